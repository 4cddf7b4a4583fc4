/**
 * The way to an executor: a child process with its pipes, or a TCP connection to one that listens. Whatever happens to it, it
 * ends once, with all that it started, and says how.
 */
import { realpath } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Clock, sleep } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { endWithThisProcess, stopGroup } from '../../process/process-group.ts';
import { MARK_VARIABLE, seenProcess } from '../../process/processes.ts';
import { endSurvivors } from '../../process/survivors.ts';
import { startTethered } from '../../process/tethered-process.ts';
import { createCapture } from '../../tools/shell/capture.ts';
import { inTime, LATE } from '../acp-wire/within.ts';
import type { ExecutorEnd } from '../port.ts';

export interface Link {
  readonly pid?: number | undefined;
  /** What processes bear that are started for it. */
  readonly mark: string;
  readonly input: Readable;
  readonly output: Writable;
  /** It ended, by itself or not, and its last words were heard. */
  readonly gone: Promise<void>;
  /** How it ended, as far as it has. */
  how(): ExecutorEnd;
  /** Lets it end, and makes it end. As often as one likes. */
  end(): Promise<ExecutorEnd>;
  /** Without waiting for it to go by itself. */
  endNow(): Promise<ExecutorEnd>;
}

export interface ProcessStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of one inside walls: to be called at its end, says what it was refused. */
  readonly left?: (() => readonly string[]) | undefined;
  /** Ends what a signal to its processes does not reach. */
  readonly after?: (() => Promise<void>) | undefined;
}

export interface LinkNeeds {
  readonly clock: Clock;
  /** One of a kind: it marks all processes that it starts. */
  readonly mark: string;
  redact(text: string): string;
}

/** A process that left the group may hold the pipes open for ever. */
const LAST_WORDS_MS = 500;

/** The failure is what the system says, such as `ENOENT`. */
export async function startProcess(start: ProcessStart, needs: LinkNeeds): Promise<Result<Link, string>> {
  const { clock, mark } = needs;
  const environment = { ...start.environment, [MARK_VARIABLE]: mark };
  const { child, release } = startTethered(start.program, start.args, { folder: start.folder, environment, input: 'pipe' });
  const spawned = await new Promise<string | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined)).once('error', (error) => resolve(codeOf(error) ?? messageOf(error)));
  });
  const { pid } = child;
  if (spawned !== undefined || pid === undefined) return fail(spawned ?? 'it has no process');
  const stderr = createCapture(limits.executorStderrBytes);
  child.stderr.on('data', (chunk: Buffer) => stderr.append(chunk));
  child.stdout.on('error', () => {});
  let code: number | null = null;
  let by: NodeJS.Signals | null = null;
  let survivors: readonly string[] = [];
  let refused: readonly string[] = [];
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      [code, by] = [exitCode, signal];
      resolve();
    });
  });
  endWithThisProcess(child, exited);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const folder = await realpath(start.folder).catch(() => start.folder);
  const traces = { mark, folder, pid, since: (await seenProcess(pid))?.since, walled: start.left !== undefined };
  const clear = async (): Promise<void> => {
    await inTime(closed, LAST_WORDS_MS, clock);
    await stopGroup(child, closed, clock);
    release();
    await start.after?.();
    survivors = await endSurvivors(traces, clock);
    refused = start.left?.() ?? [];
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const gone = exited.then(clear);
  const how = (): ExecutorEnd => ({
    ...present({ exitCode: code ?? undefined, signal: by ?? undefined }),
    stderr: needs.redact(stderr.text()).trim(),
    survivors,
    refused: refused.map(needs.redact),
  });
  let ending: Promise<ExecutorEnd> | undefined;
  const end = async (waitMs: number): Promise<ExecutorEnd> => {
    child.stdin.end();
    if (waitMs === 0 || (await inTime(exited, waitMs, clock)) === LATE) await stopGroup(child, exited, clock);
    await gone;
    return how();
  };
  const once = (waitMs: number): Promise<ExecutorEnd> => {
    ending ??= end(waitMs);
    return ending;
  };
  return ok({
    ...{ pid, mark, input: child.stdout, output: child.stdin, gone, how },
    end: () => once(limits.executorEndMs),
    endNow: () => once(0),
  });
}

export async function connectTcp(
  { host, port }: { readonly host: string; readonly port: number },
  { clock, mark }: Pick<LinkNeeds, 'clock' | 'mark'>,
  signal: AbortSignal,
): Promise<Result<Link, string>> {
  const socket = connect({ host, port });
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const given = new AbortController();
  const connected = new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).once('error', (error) => resolve(codeOf(error) ?? messageOf(error)));
    signal.addEventListener('abort', () => resolve('it was given up'), { once: true, signal: given.signal });
    void sleep(clock, limits.executorCallMs, given.signal).then(() => resolve('it does not answer'));
  });
  const problem = await connected;
  given.abort();
  if (problem !== undefined) {
    socket.destroy();
    return fail(problem);
  }
  socket.on('error', () => {});
  let survivors: readonly string[] = [];
  const how = (): ExecutorEnd => ({ stderr: '', survivors, refused: [] });
  let ending: Promise<ExecutorEnd> | undefined;
  const clear = async (): Promise<ExecutorEnd> => {
    await gone;
    // Of commands that we ran for it; where it runs itself we see nothing.
    survivors = await endSurvivors({ mark, folder: '/', since: undefined, walled: false }, clock);
    return how();
  };
  const endNow = (): Promise<ExecutorEnd> => {
    socket.destroy();
    ending ??= clear();
    return ending;
  };
  const end = async (): Promise<ExecutorEnd> => {
    socket.end();
    await inTime(gone, limits.executorEndMs, clock);
    return await endNow();
  };
  return ok({ mark, input: socket, output: socket, gone, how, end, endNow });
}
