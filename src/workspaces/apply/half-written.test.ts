/** What an apply writes beside the files that it replaces: never in the place of somebody's own, and never left behind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testRepository, value, workspacesIn, writeFiles } from '../../../test/support/workspaces/test-repository.ts';
import { type ApplyRequest, applyWork, undoLast } from './apply.ts';
import type { ApplyJournal } from './journal.ts';

const record = { made: async () => undefined, undone: async () => undefined };

async function worked() {
  const repository = await testRepository({ 'a.txt': 'one\n', 'docs/x.md': 'x\n' });
  const { place } = value(await repository.workspaces.prepare({ repo: repository.top, session: 'ses_1', task: 'task-1' }));
  writeFiles(place.path, { 'a.txt': 'two\n', 'docs/x.md': 'y\n' });
  const { patch } = value(await repository.workspaces.capture(place));
  const request: ApplyRequest = { repo: repository.top, base: place.base ?? '', patch, run: 'run_1', session: 'ses_1' };
  return { ...repository, request };
}

it('a file of theirs that is called as one that is being written might be stays theirs', async () => {
  const { top, options, request } = await worked();
  writeFiles(top, { 'a.txt.troupe-new': 'mine\n' });
  value(await applyWork(options, request, record));
  expect(readFileSync(join(top, 'a.txt.troupe-new'), 'utf8')).toBe('mine\n');
  value(await undoLast(options, record));
  expect(readFileSync(join(top, 'a.txt.troupe-new'), 'utf8')).toBe('mine\n');
});

it.each(['undo', 'apply'] as const)('what was half written when the power went is gone after %s', async (next) => {
  const { top, home, options, request } = await worked();
  const between = (effect: string): void => {
    if (effect === 'forward docs/x.md') throw new Error('the power is gone');
  };
  await expect(applyWork(workspacesIn(home, { between }).options, request, record)).rejects.toThrow('the power');
  const [name = ''] = readdirSync(join(home, 'applies'));
  const { apply, files } = JSON.parse(readFileSync(join(home, 'applies', name, 'journal.json'), 'utf8')) as ApplyJournal;
  const half = `docs/.${apply}-${files.findIndex(({ path }) => path === 'docs/x.md')}.troupe-new`;
  writeFiles(top, { [half]: 'ha' });
  if (next === 'undo') value(await undoLast(options, record));
  else value(await applyWork(options, request, record));
  expect(existsSync(join(top, half))).toBe(false);
  expect(readFileSync(join(top, 'docs/x.md'), 'utf8')).toBe(next === 'undo' ? 'x\n' : 'y\n');
});
