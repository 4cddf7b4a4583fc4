/** What is hard to see in the user's repository: what git passes over, what is written in the very moment, what git has swept. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  commitFiles,
  git,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../../test/support/workspaces/test-repository.ts';
import { type ApplyRequest, applyWork, undoLast } from './apply.ts';

const record = { made: async () => undefined, undone: async () => undefined };
const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

async function worked() {
  const repository = await testRepository({ 'a.txt': LINES, 'b.txt': LINES });
  const { place } = value(await repository.workspaces.prepare({ repo: repository.top, session: 'ses_1', task: 'task-1' }));
  writeFiles(place.path, { 'a.txt': LINES.replace('two', '2'), 'b.txt': LINES.replace('two', '2') });
  const { patch } = value(await repository.workspaces.capture(place));
  const request: ApplyRequest = { repo: repository.top, base: place.base ?? '', patch, run: 'run_1', session: 'ses_1' };
  return { ...repository, request, text: (path: string) => readFileSync(join(repository.top, path), 'utf8') };
}

it.each(['--assume-unchanged', '--skip-worktree'])(
  'a file of theirs that git passes over (%s) is in the way, takes part in a merge, and is as it was after undo',
  async (flag) => {
    const { top, options, request, text } = await worked();
    git(top, 'update-index', flag, 'a.txt');
    const mine = LINES.replace('seven', '7');
    writeFiles(top, { 'a.txt': mine });
    expect(value(await applyWork(options, request, record))).toMatchObject({ kind: 'refused', inTheWay: [{ path: 'a.txt' }] });
    expect(value(await applyWork(options, { ...request, merge: true }, record)).kind).toBe('applied');
    expect(text('a.txt')).toBe(mine.replace('two', '2'));
    expect(git(top, 'ls-files', '-v', 'a.txt')).toMatch(/^[hS] /);
    value(await undoLast(options, record));
    expect(text('a.txt')).toBe(mine);
    writeFiles(top, { 'a.txt': LINES.replace('two', 'zwei') });
    expect(value(await applyWork(options, { ...request, merge: true }, record))).toMatchObject({ kind: 'refused' });
    expect(text('a.txt')).toBe(LINES.replace('two', 'zwei'));
  },
);

it.each([false, true])(
  'what they write between the look and the first file stays theirs, nothing is applied (merge: %s)',
  async (merge) => {
    const { top, home, request, text } = await worked();
    const between = (effect: string): void => {
      if (effect === 'planned') writeFiles(top, { 'b.txt': 'mine\n' });
    };
    const outcome = await applyWork(workspacesIn(home, { between }).options, { ...request, merge }, record);
    expect(outcome).toMatchObject({ error: { code: 'changed_meanwhile', message: expect.stringContaining('b.txt') } });
    expect([text('a.txt'), text('b.txt')]).toEqual([LINES, 'mine\n']);
    expect(await undoLast(workspacesIn(home).options, record)).toMatchObject({ error: { code: 'nothing_applied' } });
  },
);

it('line ends may be said by the repository alone (.git/info/attributes)', async () => {
  const { top, options, workspaces } = await testRepository({ 'w.bat': 'one\ntwo\n' });
  writeFiles(top, { '.git/info/attributes': '*.bat text eol=crlf\n' });
  git(top, 'rm', '-q', '--cached', 'w.bat');
  git(top, 'reset', '-q', '--hard');
  expect(readFileSync(join(top, 'w.bat'), 'utf8')).toBe('one\r\ntwo\r\n');
  const { place } = value(await workspaces.prepare({ repo: top, session: 'ses_1', task: 'task-1' }));
  expect(readFileSync(join(place.path, 'w.bat'), 'utf8')).toBe('one\r\ntwo\r\n');
  writeFiles(place.path, { 'w.bat': 'one\r\n2\r\n' });
  const { patch } = value(await workspaces.capture(place));
  const request = { repo: top, base: place.base ?? '', patch, run: 'run_1', session: 'ses_1' };
  expect(value(await applyWork(options, request, record)).kind).toBe('applied');
  expect(readFileSync(join(top, 'w.bat'), 'utf8')).toBe('one\r\n2\r\n');
});

it('work of which git has swept where it began is applied to what is checked out, where it fits', async () => {
  const { top, options, workspaces } = await testRepository({ 'a.txt': LINES });
  writeFiles(top, { 'notes.txt': 'not committed\n' });
  const wanted = { repo: top, session: 'ses_1', task: 'task-1', base: 'working-tree' };
  const { place } = value(await workspaces.prepare(wanted));
  writeFiles(place.path, { 'a.txt': LINES.replace('two', '2') });
  const { patch } = value(await workspaces.capture(place));
  value(await workspaces.remove(place, { force: true }));
  git(top, 'gc', '-q', '--prune=now');
  const request = { repo: top, base: place.base ?? '', patch, run: 'run_1', session: 'ses_1' };
  expect(() => git(top, 'cat-file', '-e', request.base)).toThrow();
  expect(value(await applyWork(options, request, record)).kind).toBe('applied');
  expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe(LINES.replace('two', '2'));
  value(await undoLast(options, record));
  commitFiles(top, { 'a.txt': 'all is new\n' });
  expect(await applyWork(options, request, record)).toMatchObject({
    error: { code: 'base_gone', fix: expect.stringContaining('troupe artifacts') },
  });
});
