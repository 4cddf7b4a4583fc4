/**
 * Runs one command line in a process group of its own, with its output captured in bounded memory. When the command ends,
 * is cancelled or runs out of time, or this process ends, whatever it started and left behind in its group ends with it.
 */
import type { ChildProcess } from 'node:child_process';
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { stopGroup } from '../../process/process-group.ts';
import { MARK_VARIABLE } from '../../process/processes.ts';
import { endSurvivors } from '../../process/survivors.ts';
import { startTethered } from '../../process/tethered-process.ts';
import type { Entered, Sandbox, Walls } from '../../sandbox/port.ts';
import type { ToolContext } from '../port.ts';
import { type Capture, createCapture } from './capture.ts';

export interface CommandRequest {
  readonly shell: string;
  /** Before `-c`. */
  readonly shellFlags?: readonly string[] | undefined;
  readonly command: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Somebody follows its processes. */
  readonly processes?: ToolContext['processes'];
  /** The walls that it runs in, where there are some. */
  readonly inside?: { readonly sandbox: Sandbox; readonly walls: Walls } | undefined;
}

export interface CommandOutcome {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it was ended from outside, if it was. */
  readonly stopped: 'cancelled' | 'timeout' | undefined;
  readonly durationMs: number;
  readonly stdout: Capture;
  readonly stderr: Capture;
  /** The sandbox that it ran in, and what it was refused there. */
  readonly sandbox?: string | undefined;
  readonly refused: readonly string[];
  /** What had left its group and was ended, where somebody follows its processes. */
  readonly survivors: readonly string[];
}

/** How long output may still come after the command ended, from a process that left its group and kept the pipe. */
const LAST_WORDS_MS = 500;

export async function runShellCommand(request: CommandRequest): Promise<Result<CommandOutcome, string>> {
  const { clock } = request;
  const started = clock.elapsed();
  const stdout = createCapture(limits.toolOutputBytes);
  const stderr = createCapture(limits.toolOutputBytes);
  const entered = await enter(request);
  if (!entered.ok) return entered;
  const { file, args, folder, environment } = entered.value;
  const { child, release } = startTethered(file, args, { folder, environment, input: 'none' });
  child.stdout.on('data', (chunk: Buffer) => stdout.append(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.append(chunk));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ended = watch(child);
  const gone = child.pid === undefined ? undefined : request.processes?.began(child.pid);
  const stop = stopOnRequest(child, closed, request);
  const end = await ended;
  gone?.();
  const stopped = await stop.finish();
  const refused = entered.value.left();
  if (!end.ok) return fail(`${request.shell} could not be started: ${end.error}`);
  await endLeftovers(child, closed, clock);
  release();
  const { sandbox } = entered.value;
  const durationMs = clock.elapsed() - started;
  const survivors = await survivorsOf(request, sandbox !== undefined);
  return ok({ ...end.value, stopped, durationMs, stdout, stderr, refused, survivors, ...present({ sandbox }) });
}

async function enter({
  shell,
  shellFlags = [],
  command,
  folder,
  environment,
  processes,
  inside,
}: CommandRequest): Promise<Result<Entered, string>> {
  const marked = processes === undefined ? environment : { ...environment, [MARK_VARIABLE]: processes.mark };
  const program = { file: shell, args: [...shellFlags, '-c', command], folder, environment: marked };
  return inside === undefined ? ok({ ...program, left: () => [] }) : await inside.sandbox.enter(program, inside.walls);
}

async function survivorsOf({ processes, folder, clock }: CommandRequest, walled: boolean): Promise<readonly string[]> {
  return processes === undefined ? [] : await endSurvivors({ mark: processes.mark, folder, since: undefined, walled }, clock);
}

type End = Pick<CommandOutcome, 'exitCode' | 'signal'>;

function watch(child: ChildProcess): Promise<Result<End, string>> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(fail(messageOf(error))));
    child.once('exit', (exitCode, signal) => resolve(ok({ exitCode, signal })));
  });
}

/** Ends the group when time is up or the caller cancels, and remembers which. */
function stopOnRequest(child: ChildProcess, closed: Promise<void>, { signal, clock, timeoutMs }: CommandRequest) {
  let stopped: 'cancelled' | 'timeout' | undefined;
  let stopping: Promise<void> = Promise.resolve();
  const stop = (why: 'cancelled' | 'timeout'): void => {
    if (stopped !== undefined) return;
    stopped = why;
    stopping = stopGroup(child, closed, clock);
  };
  const onAbort = (): void => stop('cancelled');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const forget = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => stop('timeout'), 'hold');
  return {
    finish: async () => {
      forget();
      signal.removeEventListener('abort', onAbort);
      await stopping;
      return stopped;
    },
  };
}

/** Background children of a finished command get the same treatment; pipes that still stay open are given up. */
async function endLeftovers(child: ChildProcess, closed: Promise<void>, clock: Clock): Promise<void> {
  await stopGroup(child, closed, clock);
  const done = new AbortController();
  void closed.then(() => done.abort());
  await sleep(clock, LAST_WORDS_MS, done.signal);
  child.stdout?.destroy();
  child.stderr?.destroy();
}
