/**
 * One runner as the host sees it: a process with a peer on its pipes, in a process group of its own that is ended as a whole.
 * While it is idle it does not keep this process alive; it never outlives it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok } from '../../base/result.ts';
import { endWithThisProcess, signalGroup } from '../../process/process-group.ts';
import { createFrameReader, createFrameWriter } from '../wire/framing.ts';
import { createPeer, type Method, type Peer } from '../wire/rpc.ts';
import { type Confined, confined } from './confinement.ts';
import { createTail } from './tail.ts';

export interface RunnerExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why there was never a process. */
  readonly problem?: string;
}

export interface RunnerProcess {
  /** `undefined` when it could not be started. */
  readonly pid: number | undefined;
  readonly peer: Peer;
  /** Resolves when it can take a loop, or never will. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended and everything it said has been heard. */
  readonly gone: Promise<RunnerExit>;
  /** Resolves when a line in either direction was longer than the limit. */
  readonly tooLong: Promise<string>;
  serve(methods: Readonly<Record<string, Method>>): void;
  /** Whether it keeps this process alive. */
  hold(held: boolean): void;
  /** Lets it go by itself for a moment, then ends it and all that it started. */
  stop(graceMs: number): Promise<RunnerExit>;
  /** The end of what it printed, to explain why it died. */
  lastWords(): string;
}

/**
 * How long the pipes of a process that has ended may stay open: somebody else may hold them. Its own last words need no time,
 * because its end is told after all that was in its pipes.
 */
const LAST_WORDS_MS = 500;

export function startRunner(clock: Clock, memoryMiB: number, how: Confined = confined(memoryMiB)): RunnerProcess {
  const child = spawn(how.command, [...how.parameters], {
    cwd: how.folder,
    env: { ...how.environment },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const gone = watch(child, clock);
  endWithThisProcess(child, gone);
  const tooLong = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<void>();
  void gone.then(() => ready.resolve());
  const words = createTail(limits.runnerGarbageBytes);
  let methods: Readonly<Record<string, Method>> = {};
  const onReady: Method = () => {
    ready.resolve();
    return ok(null);
  };

  const writer = createFrameWriter(child.stdin, limits.runnerLineBytes);
  const peer = createPeer({
    send: (frame) => {
      const sent = writer.write(frame);
      if (sent.ok) return ok(undefined);
      tooLong.resolve(sent.error);
      return fail(sent.error);
    },
    method: (name) => {
      if (name === 'ready') return onReady;
      return Object.hasOwn(methods, name) ? methods[name] : undefined;
    },
    maxOpen: limits.runnerPendingCalls,
  });
  listen(child, peer, words.append, tooLong.resolve);
  void gone.then(() => peer.close('The runner has ended.'));

  return {
    pid: child.pid,
    peer,
    ready: ready.promise,
    gone,
    tooLong: tooLong.promise,
    serve: (given) => {
      methods = given;
    },
    hold: (held) => hold(child, held),
    stop: async (graceMs) => {
      if (graceMs > 0) await within(gone, clock, graceMs);
      // Once it has ended its number may be somebody else's; it cannot have started anything that is left.
      if (child.exitCode === null && child.signalCode === null) signalGroup(child, 'SIGKILL');
      return await gone;
    },
    lastWords: words.text,
  };
}

/** What comes out of its pipes. Writing to a runner that has just ended is no news: its end is. */
function listen(
  child: ChildProcessWithoutNullStreams,
  peer: Peer,
  print: (text: string) => void,
  tooLong: (problem: string) => void,
): void {
  const reader = createFrameReader({
    maxBytes: limits.runnerLineBytes,
    onFrame: (frame) => peer.receive(frame),
    onGarbage: (line) => print(`${line}\n`),
    onTooLong: tooLong,
  });
  const decoder = new StringDecoder('utf8');
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => print(decoder.write(chunk)));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
}

function watch(child: ChildProcessWithoutNullStreams, clock: Clock): Promise<RunnerExit> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ exitCode: null, signal: null, problem: error.message });
    });
    child.once('exit', (exitCode, signal) => {
      // Its result may still be in the pipe.
      void within(closed, clock, LAST_WORDS_MS).then(() => resolve({ exitCode, signal }));
    });
  });
}

/** Waits for something, but not for long. */
export async function within(event: Promise<unknown>, clock: Clock, milliseconds: number): Promise<void> {
  const done = new AbortController();
  void event.then(() => done.abort());
  await sleep(clock, milliseconds, done.signal);
}

function hold(child: ChildProcessWithoutNullStreams, held: boolean): void {
  for (const one of [child, child.stdin, child.stdout, child.stderr]) {
    if (one !== child && !(one instanceof Socket)) continue;
    if (held) one.ref();
    else one.unref();
  }
}
