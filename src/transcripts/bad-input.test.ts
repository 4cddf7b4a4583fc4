/** Transcripts that are cut, broken, huge, strange or hostile, taken over twice, grown since, or cut off in the middle. */
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crashAt } from '../../test/support/ledger/crash.ts';
import { SECRET, testFolder } from '../../test/support/ledger/sqlite-folder.ts';
import {
  claudeFixture,
  codexFixture,
  importWorld,
  opencodeFixture,
  PRICES,
  payloads,
  totalsOf,
  transcriptAt,
  writtenLines,
} from '../../test/support/transcripts/fixtures.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { transcriptsIn } from './find.ts';
import { importTranscript } from './import.ts';

const META = {
  timestamp: '2026-01-02T03:04:05.000Z',
  type: 'session_meta',
  payload: { id: 'one', cwd: '/project', cli_version: '1' },
};
const said = (role: string, text: string) => ({
  ...{ timestamp: '2026-01-02T03:04:06.000Z', type: 'response_item' },
  payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
});
const codex = (...lines: readonly unknown[]) => writtenLines(join(testFolder(), 'rollout.jsonl'), [META, ...lines]);

describe('a transcript', () => {
  it('that is cut in its last line is taken over up to there, and says so', async () => {
    const world = importWorld();
    const path = codexFixture();
    const whole = readFileSync(path);
    const end = whole.indexOf('"ordinal":17');
    truncateSync(path, end);
    const { session } = await world.take(path);
    const events = await world.events(session);
    expect(payloads(events, 'transcript.record').at(-1)).toMatchObject({ kind: 'cut off', raw: expect.stringContaining('{') });
    expect(payloads(events, 'run.ended')).toMatchObject([{ status: 'cancelled', error: { code: 'transcript_ends' } }]);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
  });

  it('cut at any byte is taken over or refused with why', async () => {
    const world = importWorld();
    const whole = readFileSync(claudeFixture());
    const folder = testFolder();
    for (let part = 1; part <= 24; part += 1) {
      const path = join(folder, `${part}.jsonl`);
      writeFileSync(path, whole.subarray(0, Math.floor((whole.length * part) / 25)));
      const outcome = await world.take(path).then(
        ({ outcome: done }) => done,
        (error: { readonly code?: string }) => error.code,
      );
      expect(['imported', 'transcript_unknown', 'transcript_empty']).toContain(outcome);
    }
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
  });

  it('with records of no known kind keeps them as they are, and what is around them', async () => {
    const world = importWorld();
    const strange = { timestamp: 'no date', type: 'of-tomorrow', payload: { deep: [1, { two: null }] } };
    const { session } = await world.take(
      codex(
        strange,
        said('user', 'Hello'),
        'no JSON at all',
        '[1, 2]',
        { type: 7 },
        { ...strange, type: 'response_item', payload: { type: 'hologram' } },
        said('assistant', 'Hi'),
      ),
    );
    const events = await world.events(session);
    const kinds = payloads(events, 'transcript.record').map(({ kind }) => kind);
    expect(kinds).toEqual(['session_meta', 'of-tomorrow', 'not JSON', 'not JSON', 'unknown', 'response_item hologram']);
    expect(payloads(events, 'run.ended')).toMatchObject([{ status: 'completed', report: { body: 'Hi' } }]);
  });

  it('with a line that is too long passes over it, and keeps its beginning', async () => {
    const world = importWorld();
    const long = JSON.stringify({ type: 'event_msg', payload: { text: 'x'.repeat(limits.transcriptLineBytes) } });
    const { session } = await world.take(codex(said('user', 'Hello'), long, said('assistant', 'Hi')));
    const events = await world.events(session);
    const record = payloads(events, 'transcript.record').find(({ kind }) => kind === 'too long');
    expect(record).toMatchObject({ bytes: long.length });
    expect(record?.raw.length).toBeLessThanOrEqual(limits.transcriptRecordBytes);
    expect(payloads(events, 'model.response')).toHaveLength(1);
  });

  it('that is none is refused: text, pictures, another encoding, folders of other things, nothing', async () => {
    const world = importWorld();
    const folder = testFolder();
    const utf16 = Buffer.from(readFileSync(codexFixture(), 'utf8'), 'utf16le');
    for (const [name, content] of Object.entries({
      text: 'Hello',
      json: '{"a":1}\n',
      picture: Buffer.from([0x89, 0x50, 0, 255]),
      utf16,
      empty: '',
    })) {
      const path = join(folder, `${name}.jsonl`);
      writeFileSync(path, content);
      await expect(world.take(path)).rejects.toMatchObject({ code: 'transcript_unknown' });
    }
    expect((await transcriptsIn(folder)).found).toEqual([]);
    await expect(transcriptsIn(join(folder, 'none'))).rejects.toMatchObject({ code: 'transcript_missing' });
    const other = join(folder, 'other.db');
    writeFileSync(other, 'SQLite format 3\u0000and nothing of it');
    await expect(world.take(other)).rejects.toMatchObject({ code: 'transcript_unreadable' });
    await expect(world.take(codex())).rejects.toMatchObject({ code: 'transcript_empty' });
    expect(await world.ledger.stats()).toMatchObject({ sessions: 0 });
  });

  it('with a byte order mark and carriage returns is read as any other', async () => {
    const world = importWorld();
    const path = codex(said('user', 'Hello'), said('assistant', 'Hi'));
    writeFileSync(path, `\uFEFF${readFileSync(path, 'utf8').replaceAll('\n', '\r\n')}`);
    const { session } = await world.take(path);
    expect(payloads(await world.events(session), 'run.ended')).toMatchObject([{ report: { body: 'Hi' } }]);
  });

  it('with secrets has none of them in the ledger, wherever they stood', async () => {
    const world = importWorld();
    const call = { type: 'function_call', name: 'run', call_id: 'c', arguments: JSON.stringify({ cmd: SECRET }) };
    const output = { type: 'function_call_output', call_id: 'c', output: `${SECRET} ${'y'.repeat(20_000)}` };
    const item = (payload: object) => ({ timestamp: META.timestamp, type: 'response_item', payload });
    const { session } = await world.take(
      codex(
        said('user', `Use ${SECRET}`),
        item(call),
        item(output),
        { type: 'strange', value: SECRET },
        said('assistant', `It was ${SECRET}`),
      ),
    );
    const events = await world.events(session);
    expect(JSON.stringify(events)).not.toContain('horse');
    expect(JSON.stringify(events)).toContain('TEST_PASSWORD');
    for (const { attachment_ref: ref } of events)
      if (ref !== null) expect(Buffer.from((await world.ledger.payload(ref)) ?? []).toString()).not.toContain('horse');
  });

  it('with names that lead elsewhere or move the cursor names files, and reaches none', async () => {
    const world = importWorld();
    const path = claudeFixture();
    const strange = `/project/../../etc/\u001b[2Jpasswd`;
    const lines = readFileSync(path, 'utf8').replaceAll('/project/a.txt', JSON.stringify(strange).slice(1, -1));
    writeFileSync(path, lines);
    const { session } = await world.take(path);
    expect(payloads(await world.events(session), 'file.diff')[0]?.path).toBe('../../etc/\u001b[2Jpasswd');
  });
});

describe('taken over', () => {
  it('twice, it is there once', async () => {
    const world = importWorld();
    for (const path of [claudeFixture(), codexFixture(), opencodeFixture()]) {
      const first = await world.take(path);
      const again = await world.take(path);
      expect(again).toMatchObject({
        session: first.session,
        outcome: 'there already',
        events: first.events,
        counts: first.counts,
      });
      expect(await world.events(first.session)).toHaveLength(first.events);
    }
  });

  it('when it has grown since, it is a session of its own, and what both have is counted once', async () => {
    const world = importWorld();
    const path = codexFixture();
    const whole = readFileSync(path, 'utf8').split('\n');
    writeFileSync(
      path,
      whole
        .slice(0, 26)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const first = await world.take(path);
    appendFileSync(path, whole.slice(26).join('\n'));
    const second = await world.take(path);
    expect(second).toMatchObject({ outcome: 'imported', source: { earlier: first.session } });
    expect(second.session).not.toBe(first.session);
    const [before, after] = [totalsOf(await world.events(first.session)), totalsOf(await world.events(second.session))];
    expect([before.inputTokens, after.inputTokens]).toEqual([3_006, 1_004]);
    expect(payloads(await world.events(second.session), 'run.started')).toHaveLength(2);
  });

  it('and another of the same program was forgotten, it is taken over all the same', async () => {
    const world = importWorld();
    const { session } = await world.take(codexFixture());
    const { ledger } = world;
    expect(await ledger.forget({ parts: [{ session }], by: 'ana', at: 1, dryRun: false })).toMatchObject({ kind: 'forgotten' });
    expect(await world.take(codex(said('user', 'Go on.'), said('assistant', 'Gone.')))).toMatchObject({ outcome: 'imported' });
    await expect(world.take(codexFixture())).rejects.toMatchObject({ message: expect.stringContaining('was forgotten at') });
  });

  it('and cut off in the middle, it goes on where it stopped, and comes to the same', async () => {
    const whole = importWorld();
    const path = codexFixture();
    const lines = Array.from({ length: 4_000 }, (_, index) => said(index % 40 === 0 ? 'user' : 'assistant', `Words ${index}`));
    writtenLines(path, [META, ...lines]);
    const one = await whole.take(path);
    const expected = await whole.events(one.session);
    expect(expected.length).toBeGreaterThan(limits.transcriptBatchEvents);
    for (const last of [0, 1, 3, 7]) {
      const world = importWorld();
      const crashing = crashAt(world.ledger, last);
      const needs = { clock: systemClock, prices: PRICES, workspace: '/elsewhere' };
      await expect(importTranscript({ ...needs, ledger: crashing.ledger }, await transcriptAt(path))).rejects.toThrow('power');
      const { outcome, session } = await world.take(path);
      expect(outcome).toBe(last === 0 ? 'imported' : 'completed');
      const events = await world.events(session);
      const forms = (all: typeof events) =>
        all.map(({ event_type, payload_ref, position, parent_event_id }) => [
          event_type,
          event_type.startsWith('transcript.imp') ? '' : payload_ref,
          position,
          parent_event_id,
        ]);
      expect(forms(events)).toEqual(forms(expected));
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    }
  });
});

it('a folder is walked through, and what belongs to a sub-agent is taken over with whoever called it', async () => {
  const path = claudeFixture();
  mkdirSync(join(dirname(path), 'deeper'));
  writeFileSync(join(dirname(path), 'deeper/notes.jsonl'), '{"a":1}\n');
  const { found, files } = await transcriptsIn(dirname(path));
  expect(found).toMatchObject([{ kind: 'file', path, head: { program: 'claude-code' } }]);
  expect(files).toBe(2);
});
