/**
 * One of many who follow a session, as little in memory as a reader can be: a checksum of each event. Comes back at any place
 * that it had, and then what it is told again has to be the same.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { crc32 } from 'node:zlib';
import type { Random } from '../../../src/base/random.ts';
import { type Frame, frameIn, textsOf } from './sse.ts';

export interface CrowdReader {
  /** Leaves whatever it followed, and follows again from a place that it had. */
  join(origin: string, random: Random): Promise<void>;
  /** Takes nothing any more. */
  rest(): void;
  isResting(): boolean;
  leave(): void;
  /** How many events it has, and a checksum of each. */
  readonly seen: readonly number[];
  /** What came again and was another. */
  readonly wrong: readonly number[];
}

export function createReader(session: string, path: string, token: string, isSlow: boolean): CrowdReader {
  const seen: number[] = [];
  const wrong: number[] = [];
  let open: ClientRequest | undefined;
  let coming: IncomingMessage | undefined;
  const leave = (): void => {
    coming?.destroy();
    open?.destroy();
    [open, coming] = [undefined, undefined];
  };
  const hear = (frame: Frame, position: number): number => {
    let at = position;
    for (const text of textsOf(frame)) {
      const sum = crc32(text);
      if (at >= seen.length) seen.push(sum);
      else if (seen[at] !== sum) wrong.push(at);
      at += 1;
    }
    return at;
  };
  const join = async (origin: string, random: Random): Promise<void> => {
    leave();
    const from = random.fraction() < 0.5 ? seen.length : Math.floor(random.fraction() * (seen.length + 1));
    const headers = { authorization: `Bearer ${token}`, ...(from === 0 ? {} : { 'last-event-id': `${session}.${from}` }) };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    open = request(new URL(path, origin), { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`answered with ${response.statusCode}`));
      coming = response;
      readFrom(response, from, hear, isSlow);
      resolve();
    });
    open.on('error', () => resolve()).end();
    await promise;
  };
  return { join, leave, rest: () => void coming?.pause(), isResting: () => coming?.isPaused() === true, seen, wrong };
}

function readFrom(
  response: IncomingMessage,
  from: number,
  hear: (frame: Frame, position: number) => number,
  isSlow: boolean,
): void {
  let [text, position] = ['', from];
  response.setEncoding('utf8').on('error', () => undefined);
  response.on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const frame of blocks.map(frameIn)) if (frame !== undefined) position = hear(frame, position);
    if (!isSlow) return;
    response.pause();
    setImmediate(() => response.resume());
  });
}
