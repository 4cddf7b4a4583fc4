import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject as folderWith } from '../../test/fixtures/agents/temporary-project.ts';
import { createTemporaryProject } from './temporary-project.ts';
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
