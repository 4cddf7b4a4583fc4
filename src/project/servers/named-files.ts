/**
 * The project's own files that a command line names: whoever allowed it allowed what they say. Programs find files by more than
 * whole words, so every piece of every word counts, also of a shell line and of a variable, and also as the name of a module, a
 * package or a folder. What such a file loads in its turn is not known here.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';

const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.py', '.sh', '.rb', '.json', '.exe', '.cmd', '.bat'] as const;
const INSIDE = ['package.json', ...ENDINGS.slice(0, 6).map((ending) => `index${ending}`), '__main__.py', '__init__.py'] as const;
/** They run what `package.json` says. */
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun', 'node', 'deno', 'make', 'just']);
const SCRIPT_FILES = ['package.json', 'deno.json', 'deno.jsonc', 'Makefile', 'makefile', 'justfile'] as const;

interface CommandLine {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Which of them there are, and what they hold, as one checksum. */
export async function namedFilesKey(root: string, folder: string, line: CommandLine): Promise<string> {
  const hash = createHash('sha256');
  for (const path of pathsNamed(line)) {
    const content = await contentOf(root, resolve(folder, path));
    if (content !== undefined) hash.update(`${path}\0${content}\0`);
  }
  return hash.digest('hex');
}

/** Every path that a part of the command line could mean. */
function pathsNamed({ command, args = [], env = {} }: CommandLine): readonly string[] {
  const words = [command, ...args, ...Object.values(env)];
  const pieces = new Set(words.flatMap((word) => [word, ...word.split(/[\s'"`=;&|()<>,:${}]+/)]).filter((piece) => piece !== ''));
  const runsScripts = [...pieces].some((piece) => SCRIPT_RUNNERS.has(basename(piece)));
  const paths = [...pieces].slice(0, limits.serverPieces).flatMap(meanings);
  return [...new Set([...paths, ...(runsScripts ? scriptFiles(args) : [])])];
}

function meanings(piece: string): readonly string[] {
  const module = piece.replaceAll('.', '/');
  const named = [piece, ...ENDINGS.map((ending) => `${piece}${ending}`), ...INSIDE.map((file) => join(piece, file))];
  return [...named, `${module}.py`, join(module, '__main__.py'), join('node_modules/.bin', piece)];
}

/** A script file lies in the folder, unless the program is told another one; `node server.js` reads no script of it. */
function scriptFiles(args: readonly string[]): readonly string[] {
  const isPlain = args.some((argument) => /\.[a-z]+$/i.test(argument) && !argument.startsWith('-'));
  return isPlain ? [] : SCRIPT_FILES;
}

/** The checksum of a file of the project; nothing for anything else. A file too large to read is known by when it changed. */
async function contentOf(root: string, path: string): Promise<string | undefined> {
  const inside = relative(root, path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return undefined;
  const facts = await stat(path, { bigint: true }).catch(() => undefined);
  if (facts === undefined || !facts.isFile()) return undefined;
  if (facts.size > limits.readFileBytes) return `${facts.size} bytes, changed ${facts.ctimeNs}`;
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? 'cannot be read' : createHash('sha256').update(bytes).digest('hex');
}
