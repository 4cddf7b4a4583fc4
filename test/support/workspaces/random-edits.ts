/** Random work of several tasks on one base, as trees in memory, and git's objects made of all of them at once. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';

export interface RandomFile {
  readonly mode: '100644' | '100755' | '120000';
  readonly content: string;
}
export type RandomTree = ReadonlyMap<string, RandomFile>;

const LINES = 14;
const FOLDERS = ['one', 'two', 'three'] as const;

const text = (name: string, lines = LINES): RandomFile => ({
  mode: '100644',
  content: Array.from({ length: lines }, (_, at) => `line ${at} of ${name}\n`).join(''),
});

/** The same in each folder: texts, a program, a link, something binary. */
export const BASE: RandomTree = new Map(
  FOLDERS.flatMap((folder): [string, RandomFile][] => [
    [`${folder}/a.txt`, text(`${folder} a`)],
    [`${folder}/b.txt`, text(`${folder} b`)],
    [`${folder}/deep/c.txt`, text(`${folder} c`)],
    [`${folder}/run.sh`, { mode: '100755', content: '#!/bin/sh\necho run\n' }],
    [`${folder}/link`, { mode: '120000', content: 'a.txt' }],
    [`${folder}/data.bin`, { mode: '100644', content: `\0\u0001${'binary '.repeat(20)}` }],
  ]),
);

type Edit = (tree: Map<string, RandomFile>, folder: string) => void;

const pick = (tree: Map<string, RandomFile>, folder: string, number: number): string | undefined => {
  const below = [...tree.keys()].filter((path) => path.startsWith(`${folder}/`)).toSorted();
  return below[number % Math.max(1, below.length)];
};

const number = fc.nat(1_000);

const change = (edit: (file: RandomFile, at: number, word: string) => RandomFile | undefined) =>
  fc.tuple(number, number, fc.constantFrom('x', 'y', 'z')).map(
    ([which, at, word]): Edit =>
      (tree, folder) => {
        const path = pick(tree, folder, which);
        const file = path === undefined ? undefined : tree.get(path);
        if (path === undefined || file === undefined) return;
        const edited = edit(file, at, word);
        if (edited === undefined) tree.delete(path);
        else tree.set(path, edited);
      },
  );

const onLines = (edit: (lines: string[], at: number, word: string) => void) =>
  change((file, at, word) => {
    if (file.mode === '120000' || file.content.includes('\0')) return { ...file, content: `${file.content}${word}` };
    const lines = file.content.split('\n');
    edit(lines, at % lines.length, word);
    return { ...file, content: lines.join('\n') };
  });

const renamed = fc.tuple(number, fc.constantFrom('moved.txt', 'deep/moved.txt', 'other/place.txt')).map(
  ([which, name]): Edit =>
    (tree, folder) => {
      const path = pick(tree, folder, which);
      const file = path === undefined ? undefined : tree.get(path);
      if (path === undefined || file === undefined || tree.has(`${folder}/${name}`)) return;
      tree.delete(path);
      tree.set(`${folder}/${name}`, file);
    },
);

const added = fc.tuple(fc.constantFrom('new.txt', 'deep/new.txt', 'fresh/new.txt', 'deep'), number).map(
  ([name, lines]): Edit =>
    (tree, folder) => {
      const path = `${folder}/${name}`;
      // A file where a folder was: all that lay in it is gone.
      for (const one of [...tree.keys()]) if (one.startsWith(`${path}/`) || path.startsWith(`${one}/`)) tree.delete(one);
      tree.set(path, text(`new ${lines % 3}`, 1 + (lines % 4)));
    },
);

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: onLines((lines, at, word) => lines.splice(at, 1, `${word} instead`)) },
  { weight: 3, arbitrary: onLines((lines, at, word) => lines.splice(at, 0, `${word} before`)) },
  { weight: 2, arbitrary: onLines((lines, at) => lines.splice(at, 2)) },
  { weight: 1, arbitrary: change(() => undefined) },
  { weight: 1, arbitrary: change((file) => ({ ...file, mode: file.mode === '100644' ? '100755' : file.mode })) },
  { weight: 1, arbitrary: renamed },
  { weight: 1, arbitrary: added },
);

export interface RandomCase {
  /** Whether each task stays in a folder of its own. */
  readonly disjoint: boolean;
  readonly tasks: readonly RandomTree[];
}

export const randomCase: fc.Arbitrary<RandomCase> = fc
  .tuple(fc.boolean(), fc.array(fc.array(fc.tuple(number, edit), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 3 }))
  .map(([disjoint, tasks]) => ({
    disjoint,
    tasks: tasks.map((edits, task) => {
      const tree = new Map(BASE);
      for (const [folder, one] of edits) one(tree, FOLDERS[(disjoint ? task : folder % 2) % FOLDERS.length] ?? 'one');
      return tree;
    }),
  }));

/** Writes the base and all tasks as commits, by one process; gives the name of the base and of each task's, in order. */
export function commitAll(
  folder: string,
  trees: readonly RandomTree[],
): { readonly base: string; readonly commits: readonly string[] } {
  const pieces: Buffer[] = [];
  const commit = (mark: number, tree: RandomTree, from?: number): void => {
    const head = `commit refs/cases/${mark}\nmark :${mark}\ncommitter a <a@example.com> 946684800 +0000\ndata 1\nx\n`;
    pieces.push(Buffer.from(`${head}${from === undefined ? '' : `from :${from}\n`}deleteall\n`));
    for (const [path, { mode, content }] of tree) {
      const bytes = Buffer.from(content);
      pieces.push(Buffer.from(`M ${mode} inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'));
    }
  };
  commit(1, BASE);
  for (const [at, tree] of trees.entries()) commit(at + 2, tree, 1);
  const made = spawnSync('git', ['fast-import', '--quiet', '--force'], { cwd: folder, input: Buffer.concat(pieces) });
  if (made.status !== 0) throw new Error(made.stderr.toString());
  const listed = spawnSync('git', ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/cases'], { cwd: folder });
  const names = new Map(
    listed.stdout
      .toString()
      .split('\n')
      .map((line): [string, string] => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']),
  );
  const nameOf = (mark: number): string => names.get(`refs/cases/${mark}`) ?? '';
  return { base: nameOf(1), commits: trees.map((_, at) => nameOf(at + 2)) };
}
