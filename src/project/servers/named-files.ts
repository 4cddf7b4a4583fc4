/**
 * The project's own files that a command line names: whoever allowed it allowed what they say. Programs find files by more than
 * whole words, so every piece of every word counts, also of a shell line and of a variable, and also as the name of a module, a
 * package or a folder; a folder that is named may be the one that the others are looked for in. What such a file loads in its
 * turn is not known here.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { opendir, readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';

const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.py', '.sh', '.rb', '.json', '.exe', '.cmd', '.bat'] as const;
const INSIDE = ['package.json', ...ENDINGS.slice(0, 6).map((ending) => `index${ending}`), '__main__.py', '__init__.py'] as const;
/** They run what `package.json` says. */
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun', 'node', 'deno', 'make', 'just']);
/** They fetch what they run, from where a file of the project may say. */
const FETCHERS: ReadonlySet<string> = new Set(['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'uv', 'uvx', 'pip', 'pipx']);
const FETCH_FILES = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml', 'uv.toml'] as const;
const SCRIPT_FILES = ['package.json', 'deno.json', 'deno.jsonc', 'Makefile', 'makefile', 'justfile'] as const;

export interface CommandLine {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Which of them there are, and what they hold, as one checksum. */
export async function namedFilesKey(root: string, folder: string, line: CommandLine): Promise<string> {
  const hash = createHash('sha256');
  const pieces = piecesOf(line);
  const add = async (path: string): Promise<void> => {
    const content = await contentOf(root, path);
    if (content !== undefined) hash.update(`${relative(folder, path)}\0${content}\0`);
  };
  const folders = await foldersNamed(root, folder, pieces);
  const paths = pathsNamed(pieces, line.args ?? []);
  for (const base of folders) for (const path of paths) await add(base === folder ? resolve(base, path) : join(base, path));
  for (const base of folders) for (const path of await fitting(root, base, pieces)) await add(path);
  return hash.digest('hex');
}

/**
 * Every file of the project that it may mean, there or not. The project's own folder is what a server is told to work on, unless
 * a program is given nothing else to run.
 */
export async function namedPaths(root: string, folder: string, line: CommandLine): Promise<readonly string[]> {
  const all = piecesOf(line).slice(0, limits.serverPieces);
  const pieces = runsFolder(all, line.args ?? []) ? all : all.filter((piece) => resolve(folder, piece) !== root);
  const paths = pathsNamed(pieces, line.args ?? []);
  const found = new Set<string>();
  for (const base of await foldersNamed(root, folder, pieces)) {
    for (const path of paths) found.add(base === folder ? resolve(base, path) : join(base, path));
    for (const path of await fitting(root, base, pieces)) found.add(path);
  }
  return [...found].filter((path) => isWithin(root, path));
}

const runsFolder = (pieces: readonly string[], args: readonly string[]): boolean =>
  !namesProgram(args) && pieces.some((piece) => SCRIPT_RUNNERS.has(basename(piece)) || basename(piece).startsWith('python'));

/** Of these paths those that are files, each with a word for what it holds. */
export async function heldBy(root: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const content = isThere(path) ? await contentOf(root, path) : undefined;
    if (content !== undefined) found.set(path, content);
  }
  return found;
}

/** At once: of hundreds of paths that could be meant next to none is there. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/** Why nobody could know all that it names, to be said behind "its command line". */
export async function namesTooMuch(root: string, folder: string, line: CommandLine): Promise<string | undefined> {
  const pieces = piecesOf(line);
  if (pieces.length > limits.serverPieces) return `has more than ${limits.serverPieces} pieces (limit serverPieces)`;
  const folders = await foldersNamed(root, folder, pieces);
  if (folders.length > limits.serverFolders)
    return `names more than ${limits.serverFolders} folders of the project (limit serverFolders)`;
  for (const base of folders)
    if ((await fitting(root, base, pieces)).length > limits.serverFiles)
      return `has a pattern for more than ${limits.serverFiles} files (limit serverFiles)`;
  return undefined;
}

/** They put names of files in the place of patterns. */
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'fish', 'busybox']);
const PATTERN = /[*?[]/;

/** The files of every folder that a pattern leads into, whatever comes behind it. */
async function fitting(root: string, base: string, pieces: readonly string[]): Promise<readonly string[]> {
  if (!pieces.some((piece) => SHELLS.has(basename(piece)))) return [];
  const begins = pieces.filter((piece) => PATTERN.test(piece)).map((piece) => piece.slice(0, piece.search(PATTERN)));
  const folders = new Set(begins.map((begin) => join(base, begin.slice(0, begin.lastIndexOf('/') + 1))));
  const found: string[] = [];
  for (const folder of folders) {
    if (folder !== base && !isWithin(root, folder)) continue;
    const isDeep = pieces.some((piece) => /[*?[][^/]*\//.test(piece));
    const entries = await opendir(folder, { recursive: isDeep }).catch(() => undefined);
    for await (const entry of entries ?? []) {
      if (!entry.isDirectory()) found.push(join(entry.parentPath, entry.name));
      if (found.length > limits.serverFiles) break;
    }
  }
  return [...new Set(found)].sort();
}

/** Words, and what stands between the signs of a shell in them: quotes may be borders or fall away, variables may be empty. */
function piecesOf({ command, args = [], env = {} }: CommandLine): readonly string[] {
  const words = [command, ...args, ...Object.values(env)];
  const unquoted = words.map((word) => word.replaceAll(/['"`\\]/g, ''));
  const unfilled = unquoted.map((word) => word.replaceAll(/\$\{?\w+\}?/g, ' '));
  const apart = [...words, ...unquoted, ...unfilled].flatMap((word) => word.split(/[\s'"`=;&|()<>,:${}]+/));
  return [...new Set([...words, ...unquoted, ...apart])].filter((piece) => piece !== '');
}

/** The folder, and each of the project that is named: `cd lib && node server` is about a file in lib. */
async function foldersNamed(root: string, folder: string, pieces: readonly string[]): Promise<readonly string[]> {
  const found = [folder];
  for (const base of found)
    for (const piece of pieces) {
      const path = resolve(join(base, piece));
      if (found.length > limits.serverFolders) return found;
      if (!found.includes(path) && isWithin(root, path) && (await stat(path).catch(() => undefined))?.isDirectory() === true)
        found.push(path);
    }
  return found;
}

/** Every path that a part of the command line could mean. */
function pathsNamed(pieces: readonly string[], args: readonly string[]): readonly string[] {
  const runsScripts = pieces.some((piece) => SCRIPT_RUNNERS.has(basename(piece)));
  const fetches = pieces.some((piece) => FETCHERS.has(basename(piece)));
  const installed = fetches ? pieces.map((piece) => join('node_modules', piece, 'package.json')) : [];
  const beside = [...(runsScripts ? scriptFiles(args) : []), ...(fetches ? FETCH_FILES : [])];
  return [...new Set([...pieces.flatMap(meanings), ...installed, ...beside])];
}

function meanings(piece: string): readonly string[] {
  const module = piece.replaceAll('.', '/');
  const named = [piece, ...ENDINGS.map((ending) => `${piece}${ending}`), ...INSIDE.map((file) => join(piece, file))];
  return [...named, `${module}.py`, join(module, '__main__.py'), join('node_modules/.bin', piece)];
}

/** A script file lies in the folder, unless the program is told another one; `node server.js` reads no script of it. */
const scriptFiles = (args: readonly string[]): readonly string[] => (namesProgram(args) ? [] : SCRIPT_FILES);

const namesProgram = (args: readonly string[]): boolean =>
  args.some((argument) => /\.[a-z]+$/i.test(argument) && !argument.startsWith('-'));

/** The checksum of a file of the project; nothing for anything else. A file too large to read is known by when it changed. */
async function contentOf(root: string, path: string): Promise<string | undefined> {
  if (!isWithin(root, path)) return undefined;
  const facts = await stat(path, { bigint: true }).catch(() => undefined);
  if (facts === undefined || !facts.isFile()) return undefined;
  if (facts.size > limits.readFileBytes) return `${facts.size} bytes, changed ${facts.ctimeNs}`;
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? 'cannot be read' : createHash('sha256').update(bytes).digest('hex');
}

function isWithin(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}
