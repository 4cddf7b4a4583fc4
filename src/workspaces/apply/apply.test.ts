import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  commitFiles,
  everythingOf,
  type Files,
  git,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../../test/support/workspaces/test-repository.ts';
import { type ApplyRequest, applyWork, undoLast } from './apply.ts';
import type { ApplyJournal } from './journal.ts';

const BASE = {
  'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n',
  'docs/x.md': 'x\n',
  'src/main.ts': 'main\n',
  'run.sh': '#!/bin/sh\n',
  '.gitignore': 'ignored*\n',
};

function recorder() {
  const events: string[] = [];
  return {
    events,
    made: async ({ apply }: ApplyJournal) => void events.push(`made ${apply}`),
    undone: async ({ apply }: ApplyJournal) => void events.push(`undone ${apply}`),
  };
}

/** A repository, and the work of a task on it that was captured. */
async function worked(work: (path: string) => void, files: Files = BASE) {
  const repository = await testRepository(files);
  const { place } = value(await repository.workspaces.prepare({ repo: repository.top, session: 'ses_1', task: 'task-1' }));
  work(place.path);
  const { patch } = value(await repository.workspaces.capture(place));
  const base = place.base ?? '';
  const request: ApplyRequest = { repo: repository.top, base, patch, run: 'run_1', session: 'ses_1' };
  const record = recorder();
  return {
    ...repository,
    place,
    request,
    record,
    apply: (more: Partial<ApplyRequest> = {}) => applyWork(repository.options, { ...request, ...more }, record),
    undo: () => undoLast(repository.options, record),
    cutAt: (point: string) =>
      workspacesIn(repository.home, {
        between: (effect) => {
          if (effect === point) throw new Error('the power is gone');
        },
      }).options,
  };
}

const withoutTimes = (all: string): string => all.replaceAll(/ [\d.]+ (\w+)$/gm, ' $1');

const everyKind = (path: string): void => {
  writeFiles(path, {
    'a.txt': BASE['a.txt'].replace('two', '2'),
    'new/deep/file.txt': 'new\n',
    'picture.bin': Uint8Array.from([0, 1, 2, 255]),
  });
  rmSync(join(path, 'docs/x.md'));
  chmodSync(join(path, 'run.sh'), 0o755);
  symlinkSync('a.txt', join(path, 'link'));
};

describe('a result', () => {
  it('comes to the working tree and is taken back exactly; all else is as it was, to the time of each file', async () => {
    const { top, record, apply, undo } = await worked(everyKind);
    writeFiles(top, { 'src/main.ts': 'mine, not committed\n', 'untracked.txt': 'mine\n', 'staged.txt': 'mine\n' });
    git(top, 'add', 'staged.txt');
    git(top, 'stash', 'store', git(top, 'stash', 'create').trim());
    const before = everythingOf(top);
    const planned = value(await apply({ dryRun: true }));
    expect(planned.kind).toBe('planned');
    expect(everythingOf(top)).toBe(before);
    expect(record.events).toEqual([]);

    const applied = value(await apply());
    expect(applied.kind).toBe('applied');
    expect(applied.files).toEqual(planned.files);
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toContain('\n2\n');
    expect(readFileSync(join(top, 'new/deep/file.txt'), 'utf8')).toBe('new\n');
    expect([...readFileSync(join(top, 'picture.bin'))]).toEqual([0, 1, 2, 255]);
    expect(existsSync(join(top, 'docs'))).toBe(false);
    expect(statSync(join(top, 'run.sh')).mode & 0o111).not.toBe(0);
    expect(readlinkSync(join(top, 'link'))).toBe('a.txt');
    const touched = /^(?:a\.txt|new\/|picture\.bin|docs\/|run\.sh|link) ?/;
    const untouched = (all: string) => all.split('\n').filter((line) => !touched.test(line));
    expect(untouched(everythingOf(top))).toEqual(untouched(before));

    value(await undo());
    expect(withoutTimes(everythingOf(top))).toBe(withoutTimes(before));
    expect(untouched(everythingOf(top))).toEqual(untouched(before));
    expect(record.events).toEqual([`made ${applied.apply}`, `undone ${applied.apply}`]);
    expect(await undo()).toMatchObject({ error: { code: 'nothing_applied' } });
  });

  it('goes onto a branch, and nobody notices in the files; undo takes the branch back', async () => {
    const { top, apply, undo } = await worked(everyKind);
    writeFiles(top, { 'a.txt': 'mine, not committed\n' });
    git(top, 'config', 'user.name', 'Ada');
    const before = everythingOf(top);
    const applied = value(await apply({ branch: 'results/one' }));
    expect(git(top, 'show', 'results/one:a.txt')).toContain('\n2\n');
    expect(git(top, 'log', '--format=%an %s', 'results/one').split('\n')[0]).toBe('Ada The result of run_1');
    expect(git(top, 'rev-parse', 'results/one^')).toBe(git(top, 'rev-parse', 'HEAD'));
    expect(git(top, 'fsck', '--strict')).toBe('');
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe('mine, not committed\n');
    expect(await apply({ branch: 'results/one' })).toMatchObject({ error: { code: 'branch_taken' } });
    expect(await apply({ branch: '-x' })).toMatchObject({ error: { code: 'bad_name' } });
    value(await undo());
    expect(git(top, 'branch', '--list', 'results/*')).toBe('');
    rmSync(join(top, '.git/refs/heads/results'), { recursive: true, force: true });
    const logs = /^\.git\/logs\/refs\/heads\/results.*\n/gm;
    expect(everythingOf(top).replaceAll(logs, '')).toBe(before);
    expect(applied.branch?.name).toBe('results/one');
  });

  it('of an earlier commit is merged with what was committed since', async () => {
    const { top, apply } = await worked((path) => writeFiles(path, { 'a.txt': BASE['a.txt'].replace('two', '2') }));
    git(top, 'mv', 'a.txt', 'b.txt');
    commitFiles(top, { 'b.txt': BASE['a.txt'].replace('seven', '7') }, 'moved and changed');
    expect(value(await apply()).kind).toBe('applied');
    expect(readFileSync(join(top, 'b.txt'), 'utf8')).toBe('one\n2\nthree\nfour\nfive\nsix\n7\n');
    expect(existsSync(join(top, 'a.txt'))).toBe(false);
  });

  it('that was applied already changes nothing', async () => {
    const { top, apply } = await worked(everyKind);
    value(await apply());
    for (const committed of [false, true]) {
      if (committed) commitFiles(top, {}, 'applied');
      const before = everythingOf(top);
      expect(value(await apply()).kind).toBe('nothing');
      expect(everythingOf(top)).toBe(before);
    }
  });

  it('keeps line ends as this repository has them', async () => {
    const { top, apply, undo } = await worked((path) => writeFiles(path, { 'w.bat': 'one\r\n2\r\n' }), {
      '.gitattributes': '*.bat text eol=crlf\n',
      'w.bat': 'one\r\ntwo\r\n',
    });
    expect(readFileSync(join(top, 'w.bat'), 'utf8')).toBe('one\r\ntwo\r\n');
    expect(value(await apply()).kind).toBe('applied');
    expect(readFileSync(join(top, 'w.bat'), 'utf8')).toBe('one\r\n2\r\n');
    value(await undo());
    expect(readFileSync(join(top, 'w.bat'), 'utf8')).toBe('one\r\ntwo\r\n');
  });

  it('can turn a file into a folder and a folder into a file', async () => {
    const { top, apply, undo } = await worked((path) => {
      rmSync(join(path, 'a.txt'));
      rmSync(join(path, 'docs'), { recursive: true });
      writeFiles(path, { 'a.txt/inner': 'in\n', docs: 'a file\n' });
    });
    expect(value(await apply()).kind).toBe('applied');
    expect(readFileSync(join(top, 'a.txt/inner'), 'utf8')).toBe('in\n');
    expect(readFileSync(join(top, 'docs'), 'utf8')).toBe('a file\n');
    value(await undo());
    expect(git(top, 'status', '--porcelain')).toBe('');
  });
});

describe("the user's own changes are never touched", () => {
  it.each([
    ['changed', (top: string) => writeFiles(top, { 'a.txt': 'mine\n' }), 'a.txt', 'not committed'],
    ['deleted', (top: string) => rmSync(join(top, 'a.txt')), 'a.txt', 'not committed'],
    [
      'staged, and put back on the disk',
      (top: string) => {
        writeFiles(top, { 'a.txt': 'mine\n' });
        git(top, 'add', 'a.txt');
        writeFiles(top, { 'a.txt': BASE['a.txt'] });
      },
      'a.txt',
      'staged',
    ],
    ['new and not tracked', (top: string) => writeFiles(top, { 'new.txt': 'mine\n' }), 'new.txt', 'not committed'],
    ['new and ignored', (top: string) => writeFiles(top, { 'ignored.txt': 'mine\n' }), 'ignored.txt', 'not committed'],
    ['a file where a folder is wanted', (top: string) => writeFiles(top, { fresh: 'mine\n' }), 'fresh/file', 'a file of yours'],
    ['a folder where a file is wanted', (top: string) => writeFiles(top, { 'new.txt/x': 'x' }), 'new.txt', 'files of yours'],
    [
      'an empty folder where a file is wanted',
      (top: string) => mkdirSync(join(top, 'new.txt/in/it'), { recursive: true }),
      'new.txt',
      'empty folder',
    ],
    [
      'to take the place of a folder with more in it',
      (top: string) => mkdirSync(join(top, 'docs/x')),
      'docs',
      'docs/x is an empty',
    ],
    [
      'behind a link',
      (top: string) => {
        mkdirSync(join(top, '../elsewhere'));
        symlinkSync('../elsewhere', join(top, 'fresh'));
      },
      'fresh/file',
      'behind a link',
    ],
    ['executable', (top: string) => chmodSync(join(top, 'a.txt'), 0o755), 'a.txt', 'not committed'],
  ])('a file that is %s', async (_name, change, path, why) => {
    const { top, apply } = await worked((place) => {
      writeFiles(place, { 'a.txt': BASE['a.txt'].replace('two', '2'), 'new.txt': 'new\n', 'fresh/file': 'new\n' });
      writeFiles(place, { '.gitignore': '', 'ignored.txt': 'now tracked\n' });
      rmSync(join(place, 'docs'), { recursive: true });
      writeFiles(place, { docs: 'a file\n' });
    });
    change(top);
    const before = everythingOf(top);
    const refused = value(await apply());
    expect(refused.kind).toBe('refused');
    expect(refused.inTheWay).toEqual(
      expect.arrayContaining([expect.objectContaining({ path, why: expect.stringContaining(why) })]),
    );
    expect(everythingOf(top)).toBe(before);
  });

  it('are merged only when that is asked for, and never where they do not go together', async () => {
    const { top, apply, undo } = await worked((path) => writeFiles(path, { 'a.txt': BASE['a.txt'].replace('two', '2') }));
    writeFiles(top, { 'a.txt': BASE['a.txt'].replace('seven', '7') });
    expect(value(await apply()).kind).toBe('refused');
    expect(value(await apply({ merge: true })).kind).toBe('applied');
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe('one\n2\nthree\nfour\nfive\nsix\n7\n');
    value(await undo());
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe(BASE['a.txt'].replace('seven', '7'));
    writeFiles(top, { 'a.txt': BASE['a.txt'].replace('two', 'zwei') });
    const before = everythingOf(top);
    const refused = value(await apply({ merge: true }));
    expect(refused).toMatchObject({
      kind: 'refused',
      conflicts: [{ path: 'a.txt', kind: 'content', hunks: [{ base: 'two', ours: 'zwei', theirs: '2' }] }],
    });
    expect(everythingOf(top)).toBe(before);
  });

  it('a result that stands against what was committed since is refused, with both sides', async () => {
    const { top, apply } = await worked((path) => writeFiles(path, { 'a.txt': BASE['a.txt'].replace('two', '2') }));
    commitFiles(top, { 'a.txt': BASE['a.txt'].replace('two', 'zwei') }, 'mine');
    expect(value(await apply())).toMatchObject({
      kind: 'refused',
      conflicts: [{ path: 'a.txt', sides: [{ task: 'your files' }, { task: 'run_1' }] }],
    });
    expect(value(await apply({ branch: 'x' }))).toMatchObject({ kind: 'refused' });
    expect(git(top, 'status', '--porcelain')).toBe('');
  });

  it('undo refuses where something of theirs has taken the place of a folder, and changes nothing', async () => {
    const { top, apply, undo } = await worked(everyKind);
    value(await apply());
    writeFiles(top, { docs: 'mine\n' });
    const before = everythingOf(top);
    expect(await undo()).toMatchObject({ error: { code: 'changed_since', message: expect.stringContaining('docs/x.md') } });
    expect(everythingOf(top)).toBe(before);
    rmSync(join(top, 'docs'));
    value(await undo());
    expect(git(top, 'status', '--porcelain')).toBe('');
  });

  it('undo refuses where files were changed since, says which, and changes nothing', async () => {
    const { top, apply, undo } = await worked(everyKind);
    value(await apply());
    writeFiles(top, { 'a.txt': 'more of mine\n' });
    rmSync(join(top, 'link'));
    const before = everythingOf(top);
    expect(await undo()).toMatchObject({ error: { code: 'changed_since', message: expect.stringMatching(/a\.txt.*link/) } });
    expect(everythingOf(top)).toBe(before);
  });
});

describe('cut off anywhere', () => {
  const points = [
    'written down',
    'forward a.txt',
    'forward docs/x.md',
    'forward link',
    'forward new/deep/file.txt',
    'forward run.sh',
    'made, not recorded',
  ];

  it.each(points)('at "%s": the next apply finishes it', async (point) => {
    const { top, options, request, record, cutAt } = await worked(everyKind);
    await expect(applyWork(cutAt(point), request, record)).rejects.toThrow('the power');
    const next = value(await applyWork(options, request, record));
    expect(next).toMatchObject({ kind: 'nothing', finished: expect.stringContaining('run_1') });
    expect(git(top, 'status', '--porcelain', '--untracked-files=all').split('\n').toSorted()).toEqual([
      '',
      ' D docs/x.md',
      ' M a.txt',
      ' M run.sh',
      '?? link',
      '?? new/deep/file.txt',
      '?? picture.bin',
    ]);
    expect(record.events).toHaveLength(1);
  });

  it.each(points)('at "%s": undo takes it back', async (point) => {
    const { top, options, request, record, cutAt } = await worked(everyKind);
    const before = withoutTimes(everythingOf(top));
    await expect(applyWork(cutAt(point), request, record)).rejects.toThrow('the power');
    value(await undoLast(options, record));
    expect(withoutTimes(everythingOf(top))).toBe(before);
    expect(readdirSync(top)).not.toContain('new');
  });

  it.each(['undo written down', 'back a.txt', 'back new/deep/file.txt', 'back docs/x.md', 'undone, not recorded'])(
    'at "%s" of an undo: it is taken back all the same',
    async (point) => {
      const { top, request, record, apply, undo, cutAt } = await worked(everyKind);
      value(await apply());
      await expect(undoLast(cutAt(point), record)).rejects.toThrow('the power');
      await undo();
      expect(git(top, 'status', '--porcelain', '--untracked-files=all')).toBe('');
      expect(record.events.map((event) => event.split(' ')[0])).toEqual(['made', 'undone']);
      expect(request.run).toBe('run_1');
    },
  );

  it('a file that somebody changed in between stays theirs', async () => {
    const { top, options, request, record, cutAt } = await worked(everyKind);
    await expect(applyWork(cutAt('forward link'), request, record)).rejects.toThrow('the power');
    writeFiles(top, { 'a.txt': 'theirs\n' });
    expect(await applyWork(options, request, record)).toMatchObject({ error: { code: 'changed_since' } });
    expect(await undoLast(options, record)).toMatchObject({ error: { code: 'changed_since' } });
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe('theirs\n');
  });

  it('what the disk refuses in the middle is taken back whole, and said', async () => {
    const { top, home, request, record, undo } = await worked(everyKind);
    const before = withoutTimes(everythingOf(top));
    const between = (effect: string): void => {
      if (effect !== 'forward picture.bin') return;
      const [name = ''] = readdirSync(join(home, 'applies'));
      for (const one of readdirSync(join(home, 'applies', name, 'after'))) rmSync(join(home, 'applies', name, 'after', one));
    };
    expect(await applyWork(workspacesIn(home, { between }).options, request, record)).toMatchObject({
      error: { code: 'not_written', message: expect.stringMatching(/picture\.bin.*nothing was applied/) },
    });
    expect(withoutTimes(everythingOf(top))).toBe(before);
    expect(await undo()).toMatchObject({ error: { code: 'nothing_applied' } });
  });

  it('one that somebody changes while it is applied is taken back whole', async () => {
    const { top, home, request, record } = await worked(everyKind);
    const between = (effect: string): void => {
      if (effect === 'forward docs/x.md') writeFiles(top, { 'run.sh': 'theirs\n' });
    };
    const outcome = await applyWork(workspacesIn(home, { between }).options, request, record);
    expect(outcome).toMatchObject({ error: { code: 'changed_meanwhile' } });
    expect(git(top, 'status', '--porcelain', '--untracked-files=all')).toBe(' M run.sh\n');
    expect(record.events).toEqual([]);
  });
});

describe('several processes', () => {
  const main = join(import.meta.dirname, '../../../test/support/workspaces/apply-main.ts');
  const start = (...parameters: string[]) => promisify(execFile)(process.execPath, [main, ...parameters]);

  it('come one after the other: one is applied, the others find it done', async () => {
    const { top, home, place, request } = await worked(everyKind);
    const run = async () => (await start(home, place.path, top, request.base)).stdout.trim();
    const outcomes = await Promise.all([run(), run(), run()]);
    expect(outcomes.toSorted()).toEqual(['applied', 'nothing', 'nothing']);
    expect(lstatSync(join(top, 'link')).isSymbolicLink()).toBe(true);
  });

  it('one that is killed in the middle is taken back by another', async () => {
    const { top, home, place, request, undo } = await worked(everyKind);
    const killed = start(home, place.path, top, request.base, 'forward new/deep/file.txt');
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
    expect(git(top, 'status', '--porcelain')).not.toBe('');
    value(await undo());
    expect(git(top, 'status', '--porcelain', '--untracked-files=all')).toBe('');
  });
});
