import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject as folderWith } from '../../test/fixtures/agents/temporary-project.ts';
import type { ReplyInput } from '../models/scripted/script-file.ts';
import { createTemporaryProject, type TemporaryProjectOptions } from './temporary-project.ts';
import { createVirtualClock } from './virtual-clock.ts';

const team = {
  'agents/lead.md': '---\nmodel: anthropic/claude-sonnet-5\nagents: [helper]\n---\nYou lead.',
  'agents/helper.md': '---\ndescription: Helps.\nmodel: openai/gpt-5\n---\nYou help.',
};
const replies = {
  agents: {
    lead: [
      { toolCalls: [{ name: 'helper', input: { prompt: 'Go.', reason: 'Much.' } }] },
      { finalReport: 'So: {{lastToolResult}}' },
    ],
    helper: [{ text: 'Helped.' }],
  },
};

describe('a temporary project', () => {
  it('plays a team of agent files with replies for each, whatever models they name', async () => {
    await using project = await createTemporaryProject({ files: team, replies });
    const outcome = await project.troupe.run('lead', 'Do it.');
    expect(outcome).toMatchObject({
      status: 'completed',
      report: { body: expect.stringContaining('Helped.') },
      usage: { runs: 2 },
    });
    expect(project.model.calls.map(({ agent }) => agent)).toEqual(['lead', 'helper', 'lead']);
    expect(project.model.unexpected).toEqual([]);
  });

  it('is a copy of a folder without its state, and leaves the folder alone', async () => {
    await using folder = await folderWith({ ...team, '.troupe/ledger.db': 'not a ledger', 'notes/today.txt': 'as it was' });
    const writes = [
      { toolCalls: [{ name: 'write', input: { path: 'notes/new.txt', content: 'written' } }] },
      { finalReport: 'Written.' },
    ];
    const scribe = { 'agents/scribe.md': '---\ntools: [write]\n---\nYou write.' };
    await using project = await createTemporaryProject({
      from: folder.root,
      files: scribe,
      replies: { agents: { scribe: writes } },
    });
    expect((await project.troupe.run('scribe', 'Write.')).status).toBe('completed');
    expect((await readdir(join(project.folder, 'notes'))).sort()).toEqual(['new.txt', 'today.txt']);
    expect(await readdir(join(folder.root, 'notes'))).toEqual(['today.txt']);
  });

  it('goes with its end', async () => {
    const project = await createTemporaryProject({ replies: [] });
    expect(existsSync(project.folder)).toBe(true);
    await project.close();
    expect(existsSync(project.folder)).toBe(false);
  });

  it('writes nowhere else', async () => {
    const outside = createTemporaryProject({ replies: [], files: { '../outside.md': 'x' } });
    await expect(outside).rejects.toMatchObject({ code: 'usage' });
  });

  it.each<[string, object, string]>([
    ['a misspelled option', { replies: [], file: {} }, 'createTemporaryProject: "file" is not known. Did you mean "files"?'],
    ['no replies', {}, '"replies" is missing'],
    [
      'a misspelled reply',
      { replies: [{ text: 'x' }, { txt: 'x' }] },
      'The reply number 2 cannot be played: Unrecognized key: "txt"',
    ],
    ['a misspelled reply of an agent', { replies: { agents: { mate: [{ txt: 'x' }] } } }, 'The reply number 1 of mate cannot'],
    ['replies under another name', { replies: { agent: {} } }, 'replies: "agent" is not known. Did you mean "agents"?'],
    ['nothing to copy', { replies: [], from: 'nowhere/at/all' }, 'to copy'],
    ['a clock that is none', { replies: [], clock: {} }, '"clock" must be a clock'],
  ])('refuses %s', async (_what, options, message) => {
    await expect(createTemporaryProject(options as TemporaryProjectOptions)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    });
  });

  it('has replies for some agents, and for everybody else', async () => {
    await using project = await createTemporaryProject({
      files: { 'agents/mate.md': '---\n---\nYou steer.', 'agents/cook.md': '---\n---\nYou cook.' },
      replies: { agents: { mate: [{ text: 'Aye.' }] }, replies: [{ text: 'Soup.' }] },
    });
    expect(await project.troupe.run('mate', 'Steer.')).toMatchObject({ report: { body: 'Aye.' } });
    expect(await project.troupe.run('cook', 'Cook.')).toMatchObject({ report: { body: 'Soup.' } });
  });

  it.each<[string, () => ReplyInput, string]>([
    [
      'throws',
      () => {
        throw new Error('I expected another question');
      },
      'The function of the replies threw at call 1: I expected another question',
    ],
    ['gives no reply', () => ({ txt: 'x' }) as ReplyInput, 'The reply for call 1 cannot be played'],
  ])('with a function that %s says that it was the test', async (_what, replies, message) => {
    await using project = await createTemporaryProject({ files: { 'agents/mate.md': '---\n---\nYou steer.' }, replies });
    const outcome = await project.troupe.run('mate', 'Steer.');
    expect(outcome).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } });
  });

  it('lets minutes pass at once on a clock of the test', async () => {
    const MINUTE_MS = 60_000;
    const clock = createVirtualClock(Date.UTC(2026, 0, 1));
    const limited = { text: 'At last.', error: { kind: 'rate_limited' as const, retryAfterMs: MINUTE_MS, times: 1 } };
    await using project = await createTemporaryProject({
      clock,
      files: { 'agents/patient.md': '---\n---\nYou wait.' },
      replies: [limited],
    });
    const outcome = await clock.until(project.troupe.run('patient', 'Wait.'));
    expect(outcome).toMatchObject({ status: 'completed', report: { body: 'At last.' } });
    expect(clock.elapsed()).toBeGreaterThanOrEqual(MINUTE_MS);
  });
});
