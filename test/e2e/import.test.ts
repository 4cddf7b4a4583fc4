/** `troupe import` as a person calls it: large transcripts in little memory, killed in the middle, and what is refused. */

import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import { claudeFixture, opencodeFixture } from '../support/transcripts/fixtures.ts';
import { createTestProject } from './support-project.ts';

const jsonIn = (text: string): JsonObject => {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`no JSON object: ${text.slice(0, 500)}`);
  return parsed.value;
};

const TURNS = 3_000;
const OUTPUT = 'The quick brown fox jumps over the lazy dog. '.repeat(450);

/** About 60 MB: less than half of it would not fit into the memory that the command is given. */
async function writeLarge(path: string): Promise<void> {
  const file = createWriteStream(path);
  const put = async (type: string, payload: object): Promise<void> => {
    if (!file.write(`${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', type, payload })}\n`)) await once(file, 'drain');
  };
  await put('session_meta', { id: 'large', cwd: '/project', cli_version: '1' });
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const call_id = `call_${turn}`;
    if (turn % 100 === 1)
      await put('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: `Part ${turn}` }] });
    await put('response_item', { type: 'function_call', name: 'look', call_id, arguments: '{}' });
    await put('response_item', { type: 'function_call_output', call_id, output: `${turn} ${OUTPUT}` });
    await put('event_msg', {
      type: 'token_count',
      info: { total_token_usage: { input_tokens: turn * 100, output_tokens: turn } },
    });
  }
  file.end();
  await once(file, 'close');
}

it('a large one takes little memory, and goes on where it was killed', async () => {
  await using project = await createTestProject();
  const path = join(project.folder, 'large.jsonl');
  await writeLarge(path);
  expect(statSync(path).size).toBeGreaterThan(60_000_000);
  project.env['NODE_OPTIONS'] = '--max-old-space-size=112';
  const written = (): number =>
    ['ledger.db', 'ledger.db-wal']
      .map((name) => statSync(join(project.folder, '.troupe', name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size);
  const first = project.start(['import', path]);
  await expect.poll(() => written() > 16_000_000).toBe(true);
  first.kill('SIGKILL');
  expect(await first.ended).toMatchObject({ code: null });

  const [part] = jsonIn(
    (await project.troupe('ps', '--limit', '1', '--json')).out.replace(/^\[/, '{"rows":[').replace(/\]\s*$/, ']}'),
  )['rows'] as readonly JsonObject[];
  const refused = await project.troupe('resume', String(part?.['run']));
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('imported from Codex') });

  const done = await project.troupe('import', path, '--json');
  expect(done, done.err).toMatchObject({ code: 0 });
  expect(jsonIn(done.out)['imported']).toMatchObject([
    { outcome: 'completed', runs: TURNS / 100, answers: TURNS, results: TURNS },
  ]);
  expect((await project.troupe('ledger', 'verify')).code).toBe(0);
  const session = String((jsonIn(done.out)['imported'] as readonly JsonObject[])[0]?.['session']);
  const costs = jsonIn((await project.troupe('cost', session, '--json')).out);
  expect(costs['total']).toMatchObject({ calls: TURNS, inputTokens: TURNS * 100, outputTokens: TURNS });
});

it('names what it made, keeps what it does not know, and says of every other command why it is refused', async () => {
  await using project = await createTestProject();
  const path = claudeFixture();
  const done = await project.look('import', path, opencodeFixture());
  expect(done.code, done.err).toBe(0);
  expect(done.err).toContain('imported from claude-code: 3 runs, 7 answers, 5 results of tools');
  expect(done.err).toContain('records kept as they stood there');
  const session = done.out.split('\n')[0] ?? '';
  expect((await project.look('import', path)).err).toContain('was imported before; nothing was written');
  const listed = (await project.look('sessions')).out;
  expect(listed).toContain('(from Claude Code) Do the main thing');
  expect((await project.look('show', session)).out).toContain('Claude Code');
  for (const words of [
    ['resume'],
    ['cancel'],
    ['pause'],
    ['send', 'x'],
    ['answer', 'x'],
    ['fork'],
    ['replay'],
    ['test', 'add'],
  ]) {
    const [command = '', ...rest] = words;
    const at = command === 'test' ? [command, ...rest, session] : [command, session, ...rest];
    const refused = await project.look(...at);
    expect([words, refused.code, refused.err]).toEqual([
      words,
      2,
      expect.stringContaining('was imported from Claude Code, and can only be read'),
    ]);
  }
  const more = await project.look('run', 'helper', 'Go on.', '--session', session);
  expect(more).toMatchObject({ code: 2, err: expect.stringContaining('can only be read') });
  expect((await project.look('why', session)).out).toContain('Once more');
  expect((await project.look('export', session)).out).toContain('general-purpose (sub-agent)');
  const asked = await project.look(
    'query',
    'SELECT agent, SUM(input_tokens) AS tokens FROM turns GROUP BY agent ORDER BY agent',
    '--json',
  );
  expect(asked.code, asked.err).toBe(0);
});

it('what is no transcript, or is not there, is refused, and the others are taken over', async () => {
  await using project = await createTestProject();
  await project.write('notes.jsonl', '{"hello": 1}\n');
  expect(await project.look('import', 'notes.jsonl')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no transcript of'),
  });
  expect(await project.look('import', 'none.jsonl')).toMatchObject({ code: 2, err: expect.stringContaining('is not there') });
  expect(await project.look('import')).toMatchObject({ code: 2, err: expect.stringContaining('import --list') });
  await project.write('all/notes.jsonl', '{"hello": 1}\n');
  await project.write('all/empty.jsonl', '{"type":"session_meta","payload":{"id":"x"}}\n');
  const none = await project.look('import', 'all');
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was asked or answered') });
  expect(await project.look('import', '--list')).toMatchObject({
    code: 0,
    err: expect.stringContaining('no transcript of this project'),
  });
});
