/**
 * The package behind the sandbox, once per process: it knows one configuration and has one pair of proxies. It is loaded with the
 * first program that needs it, and left with the last sandbox.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { SandboxState } from './port.ts';
import { findRelay, RELAY } from './relay.ts';
import { isCovered } from './walls.ts';

export type SandboxRuntime = typeof SandboxManager;

/** The shell that the package puts around a program, and what says that there are walls. */
const SHELL = '/bin/sh';
const INSTALL = 'On Debian and Ubuntu: apt-get install bubblewrap socat ripgrep. On macOS: brew install ripgrep.';

/**
 * The package keeps files of shells, editors and git from being made in the folder that the process stands in, by empty files
 * that it puts there while a program runs. A workspace is no place for these: what is to stay as it is there is named.
 */
const standing = new AsyncLocalStorage<string>();

/** The package asks the process where it stands; within this, it stands in another folder. */
export function standingIn<Value>(folder: string, work: () => Promise<Value>): Promise<Value> {
  patchCwd();
  return standing.run(folder, work);
}

let patched = false;
function patchCwd(): void {
  if (patched) return;
  patched = true;
  const really = process.cwd.bind(process);
  process.cwd = () => standing.getStore() ?? really();
}

/**
 * Programs of the package that run inside, before any other: without them nothing does. It shows them itself only where it lies
 * in the open, and it is installed where Troupe is, in a home or below /tmp as likely as not.
 */
export function ownPrograms(): readonly string[] {
  const vendor = fileURLToPath(new URL('../vendor', import.meta.resolve('@anthropic-ai/sandbox-runtime')));
  return [vendor, RELAY];
}

let users = 0;
let started: Promise<Result<SandboxRuntime, Off>> | undefined;

type Off = Extract<SandboxState, { readonly kind: 'off' }>;

/** It is not enough that the programs are there: a kernel or a container may forbid what they do. So it is tried. */
export async function joinRuntime(): Promise<Result<SandboxRuntime, Off>> {
  users += 1;
  started ??= start();
  const result = await started;
  if (!result.ok) users -= 1;
  return result;
}

export async function leaveRuntime(runtime: SandboxRuntime): Promise<void> {
  users -= 1;
  if (users > 0) return;
  started = undefined;
  await runtime.reset();
}

async function start(): Promise<Result<SandboxRuntime, Off>> {
  const off = (why: string, fix?: string): Result<never, Off> => fail({ kind: 'off', why, chosen: false, ...present({ fix }) });
  try {
    const { SandboxManager: runtime } = await import('@anthropic-ai/sandbox-runtime');
    if (!runtime.isSupportedPlatform()) return off('this system has none that is supported');
    // What leads to the hosts outside lies there, too.
    if (isCovered(tmpdir())) return off(`${tmpdir()} cannot be seen inside`, 'Set TMPDIR to a folder outside of /dev.');
    const missing = (await runtime.checkDependenciesAsync()).errors;
    if (missing.length > 0) return off(missing.join('; '), INSTALL);
    await initialized(runtime, await findRelay());
    const failure = await tried(await standingIn(tmpdir(), () => runtime.wrapWithSandbox('exit 0')));
    runtime.cleanupAfterCommand();
    if (failure === undefined) return ok(runtime);
    await runtime.reset();
    return off(`it does not work here: ${failure}`, 'A container may need the right to make namespaces.');
  } catch (error) {
    return off(messageOf(error));
  }
}

/**
 * Nothing is open here: every program brings what it may see and reach. The package waits a second for its way to the hosts
 * outside, which a busy machine may need longer for: that is no reason to work without walls.
 */
async function initialized(runtime: SandboxRuntime, relay: string | undefined): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runtime.initialize({
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
        ...present({ socatPath: relay }),
      });
    } catch (error) {
      if (attempt === limits.sandboxAttempts) throw error;
      await runtime.reset();
    }
  }
}

function tried(line: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(SHELL, ['-c', line], { timeout: limits.sandboxTryMs }, (error, _output, said) =>
      resolve(error === null ? undefined : (said.trim().split('\n')[0] || error.message).slice(0, limits.sandboxHostCharacters)),
    );
  });
}
