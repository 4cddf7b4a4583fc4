/**
 * The sandbox by `@anthropic-ai/sandbox-runtime`: bubblewrap on Linux, seatbelt on macOS. Whatever starts a program that others
 * decided about asks for it here, and starts what it gets.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { lineInside } from './inside.ts';
import type { Entered, Program, Sandbox, SandboxState, Walls } from './port.ts';
import { joinRuntime, leaveRuntime, ownPrograms, type SandboxRuntime, standingIn } from './runtime.ts';
import type { SandboxSettings } from './settings.ts';
import { isCovered, placesInside, type SharedTemporary } from './walls.ts';

export interface SandboxOptions {
  readonly settings: SandboxSettings;
  readonly environment: Environment;
  readonly random: Random;
  /** What Troupe keeps: closed to every program. */
  readonly state: readonly string[];
}

/** `temporary`: what programs may write beside the workspace. */
type Off = Extract<SandboxState, { kind: 'off' }>;
type Opened =
  | { readonly state: Off }
  | { readonly state: Extract<SandboxState, { kind: 'on' }>; readonly runtime: SandboxRuntime; readonly temporary: string };

const SHELL = '/bin/sh';
const ID = 'sandbox-runtime';
/** Enough that nobody inside can guess under which name another program's hosts are kept. */
const NAME_BYTES = 24;

export function createSandbox(options: SandboxOptions): Sandbox {
  const { settings } = options;
  let opening: Promise<Opened> | undefined;
  const open = (): Promise<Opened> => {
    opening ??= openSandbox();
    return opening;
  };
  return {
    state: async (mode = settings.mode) => (mode === 'off' ? CHOSEN : (await open()).state),
    async enter(program, walls) {
      const mode = walls.mode ?? settings.mode;
      const without = { ...program, left: () => [] };
      if (mode === 'off') return ok(without);
      const opened = await open();
      const off = 'runtime' in opened ? covered([program.folder, ...walls.write]) : opened.state;
      if (off === undefined && 'runtime' in opened) return await walled(opened, options, program, walls);
      if (mode !== 'on') return ok(without);
      return fail(`Not run: the settings demand a sandbox, and there is none: ${off?.why}. ${off?.fix ?? ''}`.trim());
    },
    async close() {
      const opened = await opening;
      opening = undefined;
      if (opened === undefined || !('runtime' in opened)) return;
      rmSync(opened.temporary, { recursive: true, force: true });
      await leaveRuntime(opened.runtime);
    },
  };
}

const CHOSEN: Off = { kind: 'off', why: 'it was switched off (sandbox: off)', chosen: true };

/** Why there can be no walls around these folders. */
function covered(folders: readonly string[]): Pick<Off, 'why' | 'fix'> | undefined {
  const folder = folders.find(isCovered);
  return folder === undefined ? undefined : { why: `${folder} cannot be seen inside`, fix: 'Work in a folder outside of /dev.' };
}

async function openSandbox(): Promise<Opened> {
  const joined = await joinRuntime();
  if (!joined.ok) return { state: joined.error };
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-inside-')));
  return { state: { kind: 'on', id: `${ID}/${process.platform}` }, runtime: joined.value, temporary };
}

async function walled(
  { runtime, temporary: shared, state }: Extract<Opened, { runtime: SandboxRuntime }>,
  { settings, environment, random, state: kept }: SandboxOptions,
  program: Program,
  walls: Walls,
): Promise<Result<Entered, string>> {
  const open = { ...walls, read: [...walls.read, ...settings.read], write: [...walls.write, ...settings.write] };
  const temporary = walls.apart === true ? mkdtempSync(join(shared, 'own-')) : shared;
  const shares = walls.apart === true ? sharedIn(runtime) : undefined;
  const hidden = { home: environment['HOME'], state: kept, own: ownPrograms(), shared: shares };
  const filesystem = placesInside(program, open, hidden, temporary);
  const hosts = [...new Set([...walls.hosts, ...settings.network])];
  const name = Buffer.from(random.bytes(NAME_BYTES)).toString('base64url');
  try {
    const named = { commandId: name, commandText: program.file };
    const line = await standingIn(shared, () =>
      runtime.wrapWithSandbox(lineInside(program, temporary, hosts), undefined, { filesystem }, undefined, named),
    );
    if (hosts.length > 0) runtime.registerCommandNetworkLists(name, { allowedDomains: hosts });
    const { folder, environment: given } = program;
    const left = (): readonly string[] => {
      runtime.unregisterCommandNetworkLists(name);
      runtime.cleanupAfterCommand();
      if (temporary !== shared) rmSync(temporary, { recursive: true, force: true });
      return refusalsOf(runtime, name);
    };
    return ok({ file: SHELL, args: ['-c', `exec ${line}`], folder, environment: given, sandbox: state.id, left });
  } catch (error) {
    return fail(`Not run: the sandbox cannot be built: ${messageOf(error)}`);
  }
}

/** Where temporary files of all lie; what leads to the hosts outside lies there, too, and is seen. */
const sharedIn = (runtime: SandboxRuntime): SharedTemporary => ({
  folders: ['/tmp', tmpdir()],
  ways: [runtime.getLinuxHttpSocketPath(), runtime.getLinuxSocksSocketPath()].flatMap((path) => path ?? []),
});

/** What was refused is said by the package in lines of its own. */
function refusalsOf(runtime: SandboxRuntime, name: string): readonly string[] {
  const lines = runtime
    .getSandboxViolationStore()
    .getViolationsForCommand(name)
    .map(({ line }) => line);
  return [...new Set(lines)].slice(0, limits.sandboxRefusals);
}
