/**
 * The programs that commands of a workspace find by their names alone: those of installed packages, of virtual environments,
 * and of folders of the workspace on the search path. What is ignored as a file is looked at as a program, because whoever
 * replaces the program replaces the tests. Installing changes programs as well; only what no installer leaves is told.
 */
import { hash } from 'node:crypto';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { followed } from '../../base/files/entry-below.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { decodeUtf8, looksBinary } from '../files/file-content.ts';
import { type Installed, installedProgram, standsForSystem } from './installed-program.ts';
import type { WatchedChange, WatchedFile } from './watched-file.ts';

interface Program extends WatchedFile {
  readonly facts: string;
  readonly installed: Installed | undefined;
}

export type Programs = ReadonlyMap<string, Program>;

const BINS = ['node_modules/.bin', '.venv/bin', 'venv/bin'];
const OF_PACKAGES = /(?:^|\/)node_modules\/\.bin\/[^/]+$/;
const OF_ENVIRONMENTS = /(?:^|\/)\.?venv\/bin\/[^/]+$/;

/** By their paths relative to `root`. `files` are those of the workspace, which say where packages are. */
export function programsIn(
  root: string,
  files: Iterable<string>,
  searchPath: string,
  known: Programs | undefined,
): Result<Programs, string> {
  const programs = new Map<string, Program>();
  for (const folder of foldersOf(root, files, searchPath)) {
    for (const name of namesIn(folder)) {
      const path = relative(root, join(folder, name)).split(sep).join('/');
      const program = readProgram(root, join(folder, name), known?.get(path));
      if (program !== undefined) programs.set(path, program);
      if (programs.size > limits.fingerprintPrograms)
        return fail(`the workspace has more than ${limits.fingerprintPrograms} programs (fingerprintPrograms)`);
    }
  }
  return ok(programs);
}

/** Programs that are others than before, and not by installing: each with what is wrong about it. */
export function replacedPrograms(before: Programs, after: Programs): readonly WatchedChange[] {
  return [...after].flatMap(([path, program]) => {
    const known = before.get(path);
    if (known?.sha256 === program.sha256) return [];
    const why = replaced(path, known, program);
    return why === undefined ? [] : [{ path, before: known, after: program, program: why }];
  });
}

function replaced(path: string, known: Program | undefined, { installed }: Program): string | undefined {
  const name = basename(path);
  if (OF_ENVIRONMENTS.test(path)) return installed === undefined ? NOT_INSTALLED : undefined;
  if (standsForSystem(name)) return `it takes the place of ${name}`;
  if (!OF_PACKAGES.test(path)) return undefined;
  if (installed === undefined) return NOT_INSTALLED;
  // Another release has another content, and says so.
  const same = known?.installed !== undefined && known.installed.version === installed.version;
  return same ? 'it is another one under the same version of its package' : undefined;
}

const NOT_INSTALLED = 'it is not as an installer leaves it';

/** npm looks beside each package and in all folders above it, also above the workspace. */
function foldersOf(root: string, files: Iterable<string>, searchPath: string): ReadonlySet<string> {
  const packages = new Set([root]);
  for (const path of files) if (basename(path) === 'package.json') packages.add(dirname(join(root, path)));
  const around = new Set<string>();
  for (const folder of packages) for (let at = folder; !around.has(at); at = dirname(at)) around.add(at);
  const inside = searchPath.split(':').flatMap((place) => {
    const folder = resolve(root, place);
    return place !== '' && folder.startsWith(`${root}/`) ? [folder] : [];
  });
  return new Set([...[...around].flatMap((folder) => BINS.map((bin) => join(folder, bin))), ...inside]);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The same when nothing about it differs; `undefined` when it is none. */
function readProgram(root: string, path: string, known: Program | undefined): Program | undefined {
  try {
    const [link, target] = [lstatSync(path), statSync(path)];
    if (!target.isFile() || (target.mode & 0o111) === 0) return undefined;
    const facts = [link, target]
      .map(({ size, mtimeMs, ctimeMs, ino, mode }) => [size, mtimeMs, ctimeMs, ino, mode].join(':'))
      .join();
    if (known?.facts === facts) return known;
    // What is larger is a compiled program; its size has to do.
    const { bytes, real } =
      target.size > limits.programBytes ? { bytes: Buffer.from(`\0large ${target.size}`), real: '' } : followed(path);
    const binary = looksBinary(bytes);
    // Whoever works here can have a link lead anywhere: what is no file of the workspace is compared, and never told.
    const isOwn = real.startsWith(root + sep);
    const text = isOwn && !binary && bytes.length <= limits.scriptBytes ? decodeUtf8(bytes) : undefined;
    return { facts, sha256: hash('sha256', bytes), executable: true, binary, text, installed: installedProgram(path, bytes) };
  } catch {
    return undefined;
  }
}
