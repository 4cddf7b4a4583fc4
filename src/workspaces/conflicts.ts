/** What git says about work that does not go together, as values: which files, in which way, which lines, whose. */

import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { startOf } from '../base/whole-words.ts';
import type { Failure } from '../events/catalogue.ts';
import type { MergeConflict } from './port.ts';
import { gitFailure, type PrivateGit } from './private-git.ts';
import { type TreeEntry, treeWith } from './trees.ts';

export interface Conflicted {
  readonly tree: string;
  /** Every file that any of it is about. */
  readonly paths: readonly string[];
  /** What stands there in the base, with us and with them. */
  readonly sides: ReadonlyMap<string, Readonly<Partial<Record<'base' | 'ours' | 'theirs', TreeEntry>>>>;
  readonly messages: readonly { readonly paths: readonly string[]; readonly kind: string; readonly says: string }[];
}

const STAGES = { 1: 'base', 2: 'ours', 3: 'theirs' } as const;

/** The answer of `git merge-tree -z`: the tree, the files with their sides, an empty piece, and the messages. */
export function readConflicts(output: Buffer): Conflicted {
  const [tree = '', ...rest] = output.toString('utf8').split('\0');
  const end = rest.indexOf('');
  const sides = new Map<string, Partial<Record<'base' | 'ours' | 'theirs', TreeEntry>>>();
  for (const line of rest.slice(0, end)) {
    const [, mode, blob, stage, path] = /^(\d+) (\w+) ([123])\t(.*)$/s.exec(line) ?? [];
    if (mode === undefined || blob === undefined || path === undefined) continue;
    sides.set(path, { ...sides.get(path), [STAGES[stage as unknown as 1 | 2 | 3]]: { mode, blob } });
  }
  const messages: Conflicted['messages'][number][] = [];
  for (let at = end + 1; at < rest.length; ) {
    const count = Number(rest[at]);
    if (!Number.isInteger(count) || rest[at] === '') break;
    const paths = rest.slice(at + 1, at + 1 + count);
    const says = (rest[at + 2 + count] ?? '').trim();
    const [, kind] = /^CONFLICT \(([^)]+)\)/.exec(says) ?? /^CONFLICT \(([^)]+)\)/.exec(rest[at + 1 + count] ?? '') ?? [];
    if (kind !== undefined) messages.push({ paths, kind, says });
    at += 3 + count;
  }
  const paths = [...new Set([...sides.keys(), ...messages.flatMap((one) => one.paths)])].toSorted();
  return { tree, paths, sides, messages };
}

export interface Naming {
  /** The commits, as git put them at the marks. */
  readonly ours: string;
  readonly theirs: string;
  /** What people call them. */
  readonly names: Readonly<Record<string, string>>;
  readonly task: string;
  readonly against: readonly string[];
}

/** The conflicts with their lines, and the tree with names at the marks instead of commits. */
export async function withNames(
  git: PrivateGit,
  tree: string,
  conflicted: Conflicted | undefined,
  naming: Naming,
): Promise<Result<{ readonly tree: string; readonly conflicts: readonly MergeConflict[] }, Failure>> {
  const conflicts: MergeConflict[] = [];
  const entries: { path: string; entry: TreeEntry }[] = [];
  let room = limits.conflictHunks;
  for (const { paths, kind, says } of toldBy(conflicted)) {
    const [path = ''] = paths;
    const at = conflicted?.sides.get(path) ?? {};
    const marked = at.ours !== undefined && at.theirs !== undefined ? await markedFile(git, tree, path) : undefined;
    const hunks = marked === undefined ? [] : hunksOf(marked.text, naming).slice(0, room);
    room -= hunks.length;
    if (marked !== undefined && hunks.length > 0) {
      const renamed = Object.entries(naming.names).reduce(
        (text, [commit, name]) => text.replaceAll(commit, asLatin(name)),
        marked.text,
      );
      const written = await git.run(['hash-object', '-w', '--no-filters', '--stdin'], { input: Buffer.from(renamed, 'latin1') });
      if (!written.ok) return fail(gitFailure('The marks cannot be written', written.error));
      entries.push({ path, entry: { mode: marked.mode, blob: written.value.toString().trim() } });
    }
    const sides = [
      ...(naming.against.length === 0 ? ['merged'] : naming.against).map((task) => ({ task, ...present({ ...at.ours }) })),
      { task: naming.task, ...present({ ...at.theirs }) },
    ];
    // A file where the other side has a folder has the commit behind its name.
    conflicts.push({ path: path.replace(/~[0-9a-f]{40,64}$/, ''), kind, says: named(says, naming), sides, hunks });
  }
  const made = await treeWith(git, tree, entries);
  return made.ok ? ok({ tree: made.value, conflicts }) : made;
}

/** Files with sides that no message is about are told too. */
function toldBy(conflicted: Conflicted | undefined): Conflicted['messages'] {
  const messages = conflicted?.messages ?? [];
  const told = new Set(messages.flatMap(({ paths }) => paths));
  const silent = [...(conflicted?.sides.keys() ?? [])].filter((path) => !told.has(path));
  return [...messages, ...silent.map((path) => ({ paths: [path], kind: 'content', says: `Merge conflict in ${path}` }))];
}

const named = (says: string, { names }: Naming): string =>
  Object.entries(names).reduce((text, [commit, name]) => text.replaceAll(commit, name), says);

const asLatin = (text: string): string => Buffer.from(text).toString('latin1');

/** One character for each byte, so that nothing is changed on the way. */
async function markedFile(git: PrivateGit, tree: string, path: string): Promise<{ text: string; mode: string } | undefined> {
  const listed = await git.run(['ls-tree', '-z', tree, '--', path]);
  const [, mode, blob] = /^(\d+) blob (\w+)\t/.exec(listed.ok ? listed.value.toString() : '') ?? [];
  if (mode === undefined || blob === undefined) return undefined;
  const read = await git.run(['cat-file', 'blob', blob]);
  return read.ok ? { text: read.value.toString('latin1'), mode } : undefined;
}

/** Only marks that name the commits are git's own: a file may hold such lines by itself. */
function hunksOf(text: string, { ours, theirs }: Naming): MergeConflict['hunks'] {
  const hunks: { line: number; base: string; ours: string; theirs: string }[] = [];
  let open: { line: number; part: 'ours' | 'base' | 'theirs'; ours: string[]; base: string[]; theirs: string[] } | undefined;
  for (const [number, line] of text.split('\n').entries()) {
    if (line.startsWith(`<<<<<<< ${ours}`)) open = { line: number + 1, part: 'ours', ours: [], base: [], theirs: [] };
    else if (open === undefined) continue;
    else if (open.part === 'ours' && line.startsWith('||||||| ')) open.part = 'base';
    else if (open.part === 'base' && line.trimEnd() === '=======') open.part = 'theirs';
    else if (line.startsWith(`>>>>>>> ${theirs}`)) {
      hunks.push({ line: open.line, base: shown(open.base), ours: shown(open.ours), theirs: shown(open.theirs) });
      open = undefined;
    } else open[open.part].push(line);
  }
  return hunks;
}

const shown = (lines: readonly string[]): string => {
  const text = Buffer.from(lines.join('\n'), 'latin1').toString('utf8');
  return text.length > limits.conflictBytes ? `${startOf(text, limits.conflictBytes)}…` : text;
};
