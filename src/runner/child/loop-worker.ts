/**
 * The process that plays one loop. It knows nothing but its pipes: frames come in on stdin and go out on stdout. It ends
 * with its loop (the exit code tells the status), when it is told to, and as soon as stdin ends, which is what the death of
 * the host looks like from here.
 */
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { ok } from '../../base/result.ts';
import { runLoop } from '../../loop/loop.ts';
import type { LoopResult } from '../../loop/port.ts';
import type { Start } from '../wire/frames.ts';
import { createFrameReader, createFrameWriter } from '../wire/framing.ts';
import { createPeer, INVALID_PARAMS, INVALID_REQUEST, type Method, type RpcResult, rpcRefusal } from '../wire/rpc.ts';
import { remoteLoop } from './remote-loop.ts';

const exitCodes: Readonly<Record<LoopResult['status'], number>> = {
  completed: 0,
  failed: 1,
  budget_exhausted: 4,
  cancelled: 130,
};
/** The host is gone; and: something here is broken. */
const ORPHANED = 129;
const BROKEN = 70;

const writer = createFrameWriter(process.stdout, limits.runnerLineBytes);
const cancelled = new AbortController();
let started = false;

/** Leaves once the answer to what is being asked has gone out. */
function leave(code: number, lastWords = ''): void {
  if (lastWords !== '') process.stderr.write(`${lastWords}\n`);
  setImmediate(() => void writer.flushed().then(() => process.exit(code)));
}

async function play(start: Start): Promise<RpcResult> {
  if (start.cancelled) cancelled.abort();
  const { input, ports } = remoteLoop(start, peer, cancelled.signal);
  const result = await runLoop(input, ports);
  leave(exitCodes[result.status]);
  return ok({ ...result } as Json);
}

const methods: Readonly<Record<string, Method>> = {
  async start(params) {
    if (started) return rpcRefusal(INVALID_REQUEST, 'A runner plays one loop.');
    if (!isStart(params)) return rpcRefusal(INVALID_PARAMS, 'This does not start a loop.');
    started = true;
    try {
      return await play(params);
    } catch (error) {
      leave(BROKEN, messageOf(error));
      throw error;
    }
  },
  cancel() {
    cancelled.abort();
    return ok(null);
  },
  shutdown() {
    leave(0);
    return ok(null);
  },
};

/** Looks no deeper: the host is the same package, on the only other end of the pipe. */
function isStart(params: unknown): params is Start {
  if (!isJsonObject(params)) return false;
  const lists = ['history', 'tools', 'exits'].every((name) => Array.isArray(params[name]));
  return (
    lists &&
    typeof params['thread_id'] === 'string' &&
    ['request', 'limits', 'listens'].every((name) => isJsonObject(params[name]))
  );
}

const peer = createPeer({
  send: (frame) => writer.write(frame),
  method: (name) => (Object.hasOwn(methods, name) ? methods[name] : undefined),
  maxOpen: limits.runnerPendingCalls,
});
const reader = createFrameReader({
  maxBytes: limits.runnerLineBytes,
  onFrame: (frame) => peer.receive(frame),
  onGarbage: () => {},
  onTooLong: (problem) => leave(BROKEN, problem),
});

process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
process.stdin.on('end', () => process.exit(ORPHANED));
process.stdin.on('error', () => process.exit(ORPHANED));
process.stdout.on('error', () => process.exit(ORPHANED));
peer.notify('ready', {});
