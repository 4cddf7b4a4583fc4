/**
 * Messages on a byte stream, one JSON object per line, made for a counterpart that may be broken or hostile. The official
 * package gets only what it can take: lines that are no messages, answers to questions that nobody asked and second answers are
 * counted and left out. It reads only as fast as messages are taken, and a flood ends the connection.
 *
 * Updates do not go through the package: it refuses kinds that it does not know, and lets an answer overtake what was told
 * before it.
 */
import { Buffer } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { eventLoopTurn } from '../../base/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';

/** What was left out. */
export type WireFault = 'broken' | 'unasked';

export interface Wire {
  readonly stream: Stream;
  /** From now on the bounds of a prompt count anew. */
  renew(): void;
}

/** The counterpart broke a bound; nothing more is read. */
export class WireFlood extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'WireFlood';
  }
}

/** The event loop gets its turn after so many messages at the latest. */
const AT_ONCE = 256;
const UPDATE = 'session/update';
const NEWLINE = 0x0a;
const SPACE = 0x20;

export interface WireEnds {
  /** At once, in the order in which they came. */
  update(params: unknown): void;
  fault(fault: WireFault, sample: string): void;
  /** What it answered, before the package has seen it. */
  answered(result: unknown): void;
}

export function createWire(input: Readable, output: Writable, ends: WireEnds): Wire {
  const bounds = createBounds();
  const asked = new Set<unknown>();
  const open = new Set<unknown>();
  const take = (line: Buffer): AnyMessage | undefined => {
    if (line.every((sign) => sign <= SPACE)) return undefined;
    const message = messageIn(line);
    if (message === undefined) {
      bounds.broken();
      ends.fault('broken', line.subarray(0, limits.executorTitleCharacters).toString());
      return undefined;
    }
    const { id, method } = message;
    bounds.greeted();
    if (method === undefined && !asked.delete(id)) {
      bounds.broken();
      ends.fault('unasked', String(id));
      return undefined;
    }
    if (method === undefined) ends.answered(message['result']);
    if (method === UPDATE && id === undefined) {
      ends.update(message['params']);
      return undefined;
    }
    if (method !== undefined && id !== undefined) {
      open.add(id);
      if (open.size > limits.executorOpenRequests)
        throw new WireFlood(`it asks for more than ${limits.executorOpenRequests} things at once (executorOpenRequests)`);
    }
    // What it holds is checked where it is used; that it is a message is what was looked at.
    return message as unknown as AnyMessage;
  };
  const messages = read(input, bounds, take);
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        const next = await messages.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        input.destroy();
        await messages.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message) {
        if ('id' in message) asked.add(message.id);
      } else open.delete(message.id);
      await written(output, `${JSON.stringify(message)}\n`);
    },
  });
  return { stream: { readable, writable }, renew: bounds.renew };
}

async function* read(
  input: Readable,
  bounds: Bounds,
  take: (line: Buffer) => AnyMessage | undefined,
): AsyncGenerator<AnyMessage, undefined> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let sinceTurn = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    bounds.bytes(chunk.length);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...held, chunk.subarray(start, end)]);
      held = [];
      heldBytes = 0;
      start = end + 1;
      bounds.frame(line.length);
      const message = take(line);
      if (message !== undefined) yield message;
      sinceTurn += 1;
      if (sinceTurn % AT_ONCE === 0) await eventLoopTurn();
    }
    if (start < chunk.length) {
      held.push(chunk.subarray(start));
      heldBytes += chunk.length - start;
      bounds.line(heldBytes);
    }
  }
  const message = heldBytes === 0 ? undefined : take(Buffer.concat(held));
  if (message !== undefined) yield message;
  return undefined;
}

type Bounds = ReturnType<typeof createBounds>;

function createBounds() {
  let frames = 0;
  let bytes = 0;
  let broken = 0;
  /** Before its first message it may be no executor at all: a shell, a server that talks to people. */
  let unknown = true;
  const line = (length: number): void => {
    if (length > limits.executorFrameBytes)
      throw new WireFlood(`it sends a message of more than ${limits.executorFrameBytes} bytes (executorFrameBytes)`);
  };
  return {
    line,
    frame(length: number): void {
      line(length);
      frames += 1;
      if (frames > limits.executorTurnFrames)
        throw new WireFlood(`it sends more than ${limits.executorTurnFrames} messages (executorTurnFrames)`);
    },
    bytes(count: number): void {
      bytes += count;
      if (unknown && bytes > limits.executorBannerBytes)
        throw new WireFlood(`it sends ${limits.executorBannerBytes} bytes and no message among them (executorBannerBytes)`);
      if (bytes > limits.executorTurnBytes)
        throw new WireFlood(`it sends more than ${limits.executorTurnBytes} bytes (executorTurnBytes)`);
    },
    broken(): void {
      broken += 1;
      if (unknown && broken > limits.executorBannerLines)
        throw new WireFlood(`it sends ${limits.executorBannerLines} lines and no message among them (executorBannerLines)`);
      if (broken > limits.executorBrokenFrames)
        throw new WireFlood(
          `it sends more than ${limits.executorBrokenFrames} lines that are no messages (executorBrokenFrames)`,
        );
    },
    greeted(): void {
      unknown = false;
    },
    renew(): void {
      frames = 0;
      bytes = 0;
      broken = 0;
    },
  };
}

/** A request, a notification or an answer. */
function messageIn(line: Buffer): JsonObject | undefined {
  if (isDeep(line)) return undefined;
  const parsed = parseJson(line.toString());
  if (!parsed.ok || !isJsonObject(parsed.value) || parsed.value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, error } = parsed.value;
  const isId = id === null || typeof id === 'string' || Number.isFinite(id);
  if (method !== undefined) return typeof method === 'string' && (id === undefined || isId) ? parsed.value : undefined;
  const isAnswer = isId && 'result' in parsed.value !== 'error' in parsed.value;
  const isError =
    error === undefined || (isJsonObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string');
  return isAnswer && isError ? parsed.value : undefined;
}

/** Told before anything is parsed: what is nested without end must not reach those who walk it. */
function isDeep(line: Buffer): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at];
    if (quoted) {
      if (sign === 0x5c) at += 1;
      else if (sign === 0x22) quoted = false;
    } else if (sign === 0x22) quoted = true;
    else if (sign === 0x7b || sign === 0x5b) depth += 1;
    else if (sign === 0x7d || sign === 0x5d) depth -= 1;
    if (depth > limits.executorFrameDepth) return true;
  }
  return false;
}

/** Resolves when there is room for more. One that is gone takes nothing: its end is told by its stream. */
function written(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (output.destroyed || !output.writable) return reject(new Error('It does not listen any more.'));
    if (output.write(text)) return resolve();
    const done = (): void => {
      output.off('drain', done);
      output.off('close', done);
      resolve();
    };
    output.once('drain', done);
    output.once('close', done);
  });
}
