/** Trees of git as values: what differs between two, a patch from one to the other, and a tree from a patch. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { zeroSeparated, zeroSeparatedBytes } from './git.ts';
import type { PatchedFile } from './port.ts';
import { gitFailure, isSha256, type PrivateGit, said } from './private-git.ts';

/** What stands in a tree at a path. */
export interface TreeEntry {
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a commit of a module. */
  readonly mode: string;
  readonly blob: string;
}

export interface TreeChange {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

export const LINK_MODE = '120000';
export const MODULE_MODE = '160000';

/** The same words for the same trees, whatever anybody has set. */
const PATCH = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short', '--no-relative'];
const PATCH_TEXT = [
  ...['-p', '--binary', '--full-index', '--unified=3', '--inter-hunk-context=0', '--diff-algorithm=myers', '--indent-heuristic'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

/** Every path that differs, renames as two. */
export async function changesBetween(git: PrivateGit, from: string, to: string): Promise<Result<readonly TreeChange[], Failure>> {
  const listed = await git.run(['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', from, to]);
  if (!listed.ok) return fail(gitFailure('What was changed cannot be listed', listed.error));
  const pieces = zeroSeparated(listed.value);
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < pieces.length; at += 2) {
    const [modeBefore = '', modeAfter = '', blobBefore = '', blobAfter = ''] = (pieces[at] ?? '').slice(1).split(' ');
    const path = pieces[at + 1] ?? '';
    changes.push({ path, before: entry(modeBefore, blobBefore), after: entry(modeAfter, blobAfter) });
  }
  if (changes.length > limits.patchFiles) return fail(tooManyFiles(changes.length));
  const odd = zeroSeparatedBytes(listed.value).find((name) => !Buffer.from(name.toString()).equals(name));
  return odd === undefined ? ok(changes) : fail(oddName(odd.toString()));
}

const entry = (mode: string, blob: string): TreeEntry | undefined => (/^0+$/.test(mode) ? undefined : { mode, blob });

function tooManyFiles(count: number): Failure {
  const message = `${count} files were changed, more than ${limits.patchFiles} (patchFiles).`;
  return { code: 'patch_too_large', message, fix: 'Let .gitignore name what is generated, or split the task.' };
}

function oddName(path: string): Failure {
  return { code: 'odd_name', message: `The name of a changed file is not UTF-8: ${path}`, fix: 'Rename the file.' };
}

/** For `git apply`; empty when there is no difference. */
export async function patchBetween(git: PrivateGit, from: string, to: string): Promise<Result<Buffer, Failure>> {
  const made = await git.run([...PATCH, ...PATCH_TEXT, from, to], { most: { bytes: limits.patchBytes, limit: 'patchBytes' } });
  if (made.ok) return ok(made.value);
  if (!made.error.says.includes('patchBytes')) return fail(gitFailure('The patch cannot be made', made.error));
  const message = `The patch is too large: ${made.error.says}.`;
  return fail({ code: 'patch_too_large', message, fix: 'Let .gitignore name what is generated, or split the task.' });
}

/** What a person is shown of it: files with their lines, renames as one. */
export async function filesBetween(git: PrivateGit, from: string, to: string): Promise<Result<readonly PatchedFile[], Failure>> {
  const listed = await git.run([...PATCH, '-z', '--raw', '--numstat', from, to]);
  if (!listed.ok) return fail(gitFailure('What was changed cannot be listed', listed.error));
  const pieces = zeroSeparated(listed.value);
  const changes = new Map<string, Pick<PatchedFile, 'change' | 'from'>>();
  const files: PatchedFile[] = [];
  for (let at = 0; at < pieces.length; ) {
    const piece = pieces[at] ?? '';
    if (piece.startsWith(':')) {
      const letter = piece.split(' ').at(-1)?.[0] ?? 'M';
      const renamed = letter === 'R' || letter === 'C';
      const path = pieces[at + (renamed ? 2 : 1)] ?? '';
      changes.set(path, { change: CHANGES[letter] ?? 'changed', ...(renamed && { from: pieces[at + 1] }) });
      at += renamed ? 3 : 2;
      continue;
    }
    // A name may hold a tab of its own.
    const [added = '', removed = '', ...rest] = piece.split('\t');
    const name = rest.join('\t');
    const path = name === '' ? (pieces[at + 2] ?? '') : name;
    at += name === '' ? 3 : 1;
    const { change = 'changed', from: earlier } = changes.get(path) ?? {};
    const binary = added === '-';
    const [addedLines, removedLines] = binary ? [0, 0] : [Number(added), Number(removed)];
    files.push({ path, change, addedLines, removedLines, ...present({ from: earlier, binary: binary || undefined }) });
  }
  return ok(files);
}

const CHANGES: Readonly<Record<string, PatchedFile['change']>> = { A: 'added', D: 'deleted', R: 'renamed', C: 'added' };

/** A tree (none: an empty one) with some entries put in or taken out. */
export async function treeWith(
  git: PrivateGit,
  tree: string | undefined,
  entries: readonly { readonly path: string; readonly entry: TreeEntry | undefined }[],
  name = 'with',
): Promise<Result<string, Failure>> {
  const index = join(git.folder, `index-${name}`);
  const read = await git.run(['read-tree', ...(tree === undefined ? ['--empty'] : [tree])], { index });
  if (!read.ok) return fail(gitFailure('The base cannot be read', read.error));
  if (entries.length > 0) {
    const gone = '0'.repeat(isSha256(git.repository.settings) ? 64 : 40);
    // What goes first makes room: a file may become a folder.
    const ordered = entries.toSorted((one, other) => Number(one.entry !== undefined) - Number(other.entry !== undefined));
    const lines = ordered.map(({ path, entry: at }) => `${at?.mode ?? '0'} ${at?.blob ?? gone}\t${path}\0`);
    const put = await git.run(['update-index', '-z', '--index-info'], { index, input: Buffer.from(lines.join('')) });
    if (!put.ok) return fail(gitFailure('The tree cannot be made', put.error));
  }
  return said(await git.run(['write-tree'], { index }), 'The tree cannot be made');
}

/** The tree that a patch makes of another. */
export async function treeOfPatch(
  git: PrivateGit,
  base: string,
  patch: Uint8Array,
  /** New objects go into the user's repository: others must find them there. */
  keep = false,
): Promise<Result<string, Failure>> {
  const index = join(git.folder, 'index-patch');
  const begun = await indexOf(git, base, index);
  if (!begun.ok) return begun;
  if (patch.length > 0) {
    const applied = await git.run(['apply', '--cached', '--whitespace=nowarn', '-'], { index, input: patch, keep });
    if (!applied.ok) return fail({ ...gitFailure('The patch does not fit its base', applied.error), code: 'patch_broken' });
  }
  return said(await git.run(['write-tree'], { index, keep }), 'The tree cannot be made');
}

/** Of one base there often are many patches: its index is read once. */
async function indexOf(git: PrivateGit, base: string, index: string): Promise<Result<void, Failure>> {
  const once = join(git.folder, `index-of-${base}`);
  const copied = await copyFile(once, index).then(
    () => true,
    () => false,
  );
  if (copied) return ok(undefined);
  const read = await git.run(['read-tree', base], { index: once });
  if (!read.ok) return fail(gitFailure(`The base ${base} is not here`, read.error));
  await copyFile(once, index);
  return ok(undefined);
}

/** A commit that nobody's branch knows, the same for the same tree and parents: for merges, and for worktrees to begin at. */
export async function commitOf(
  git: PrivateGit,
  tree: string,
  parents: readonly string[],
  options: { readonly message?: string | undefined; readonly keep?: boolean | undefined } = {},
): Promise<Result<string, Failure>> {
  const { message = 'troupe', keep = false } = options;
  const who = 'troupe <troupe@localhost> 946684800 +0000';
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who}`,
    `committer ${who}`,
    '',
    message,
  ];
  const body = Buffer.from(`${lines.join('\n')}\n`);
  if (keep)
    return said(
      await git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: body, keep }),
      'The commit cannot be made',
    );
  return ok(await objectOf(git, 'commit', body));
}

/** The content of a file as an object of this git alone. */
export const blobOf = (git: PrivateGit, content: Uint8Array): Promise<string> => objectOf(git, 'blob', content);

/** What git calls a content. */
export function blobName(content: Uint8Array, sha256: boolean): string {
  return createHash(sha256 ? 'sha256' : 'sha1')
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest('hex');
}

/** Git would need a process for these few bytes. */
async function objectOf(git: PrivateGit, kind: 'commit' | 'blob', body: Uint8Array): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${kind} ${body.length}\0`), body]);
  const name = createHash(isSha256(git.repository.settings) ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex');
  const folder = join(git.folder, 'objects', name.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name.slice(2)), deflateSync(object));
  return name;
}

/** What lies in our own folder so far goes into the user's repository. */
export async function bringObjects(git: PrivateGit, tree: string): Promise<Result<void, Failure>> {
  const known = git.repository.head === undefined ? [] : [`^${git.repository.head}`];
  const packed = await git.run(['pack-objects', '--revs', '--stdout', '--quiet'], {
    input: Buffer.from(`${[tree, ...known].join('\n')}\n`),
  });
  const put = packed.ok ? await git.run(['unpack-objects', '-q'], { input: packed.value, keep: true }) : packed;
  return put.ok ? ok(undefined) : fail(gitFailure('The commit cannot be made', put.error));
}
