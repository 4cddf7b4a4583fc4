/**
 * An executor in an OCI image: the command line of the engine, composed here. The root of the image is read-only, there is no
 * network but one that is named, no home and no rights; its workspace is there under its own path, with what git needs of its
 * repository.
 * Values of variables are not on the command line: the engine takes them from its own environment, by their names.
 */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Environment } from '../base/environment.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Walls } from '../sandbox/port.ts';
import { liesIn } from '../sandbox/programs.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';
import type { ExecutorEntry, ExecutorImage } from './entry.ts';
import { programPath } from './program.ts';

export interface ImageProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** What it is kept in, for the record. */
  readonly sandbox: string;
  /** Takes the container away, should it still be there. */
  after(): Promise<void>;
}

export interface ImageStart {
  readonly folder: string;
  /** What it gets of our environment, and what its entry sets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly walls: Walls;
  /** What Troupe keeps: not to be seen, where it lies in what is. */
  readonly state: readonly string[];
  readonly mark: string;
}

const ENGINES = ['docker', 'podman'] as const;

/** The engine that its entry names, or the first that is here. */
export function engineOf({ engine }: ExecutorImage, folder: string, path: string | undefined): string | undefined {
  return (engine === undefined ? ENGINES : [engine]).find((name) => programPath(name, folder, path) !== undefined);
}

/** What an engine needs to know to find its server. */
const OF_ENGINES = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'CONTAINER_HOST', 'XDG_RUNTIME_DIR'];
/** What says something about this machine, and nothing in an image. */
const OF_THIS_MACHINE = new Set(['PATH', 'HOME', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL']);

export function imageProgram(
  entry: ExecutorEntry & { readonly image: ExecutorImage },
  start: ImageStart,
  ours: Environment,
): Result<ImageProgram, string> {
  const { image, title, reach } = entry;
  const file = engineOf(image, start.folder, ours['PATH']);
  if (file === undefined)
    return fail(`${title} runs in an image, and there is no ${image.engine ?? ENGINES.join(' and no ')} to start it with`);
  if (reach.kind !== 'stdio') return fail(`${title} runs in an image and has no command`);
  const strange = [start.folder, ...start.walls.write, ...start.walls.read].find((path) => /[\n\r\0]/.test(path));
  if (strange !== undefined) return fail(`${JSON.stringify(strange)} cannot be shown in an image`);
  const own = Object.keys(entry.env).filter((name) => OF_THIS_MACHINE.has(name));
  const names = Object.keys(start.environment).filter((name) => !OF_THIS_MACHINE.has(name) || own.includes(name));
  const environment = { ...minimalEnvironment(ours, OF_ENGINES), ...pick(start.environment, names) };
  const name = `troupe-${start.mark}`;
  const args = [
    ...['run', '--rm', '--interactive', '--pull', 'never', '--name', name],
    ...['--read-only', '--tmpfs', '/tmp:rw,nosuid,nodev,exec', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--pids-limit', String(limits.imageProcesses), '--network', image.network ?? 'none', ...userOf(file)],
    ...mountsOf(start).flatMap((mount) => ['--mount', mount]),
    ...['--workdir', start.folder],
    ...(own.includes('HOME') ? [] : ['--env', 'HOME=/tmp']),
    ...names.flatMap((one) => ['--env', one]),
    ...[image.name, reach.program, ...reach.args],
  ];
  return ok({ file, args, environment, sandbox: `oci/${file}/${image.name}`, after: () => removed(file, name, environment) });
}

const pick = (all: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, all[name] ?? '']));

/** What it writes belongs to whoever started it. */
function userOf(engine: string): readonly string[] {
  const { uid, gid } = userInfo();
  return ['--user', `${uid}:${gid}`, ...(engine === 'podman' && uid !== 0 ? ['--userns', 'keep-id'] : [])];
}

/** The same paths as here. What is to stay as it is lies over what may be written, and over all of it what is not to be seen. */
function mountsOf({ walls, state }: ImageStart): readonly string[] {
  const there = (paths: readonly string[]): string[] => [...new Set(paths.filter(existsSync).map((path) => realpathSync(path)))];
  const within = (folders: readonly string[]) => (path: string) => folders.some((folder) => liesIn(folder, path));
  const write = there(walls.write);
  const isWritten = within(write);
  const read = there(walls.read).filter((path) => !isWritten(path));
  const keep = there(walls.keep).filter(isWritten);
  const hidden = there([...state, ...walls.hide]).filter(within([...write, ...read]));
  return [
    ...write.map((path) => mount('type=bind', `source=${path}`, `target=${path}`)),
    ...[...read, ...keep].map((path) => mount('type=bind', `source=${path}`, `target=${path}`, 'readonly')),
    ...hidden.map((path) =>
      statSync(path).isDirectory()
        ? mount('type=tmpfs', `target=${path}`)
        : mount('type=bind', 'source=/dev/null', `target=${path}`, 'readonly'),
    ),
  ];
}

/** Engines read this as a line of comma-separated values. */
const mount = (...fields: readonly string[]): string =>
  fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');

/** A container does not end with the program that started it. One that is gone already is what was wanted. */
function removed(file: string, name: string, environment: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve) => {
    const options = { env: { ...environment }, timeout: limits.imageRemoveMs };
    execFile(file, ['rm', '--force', name], options, () => resolve());
  });
}
