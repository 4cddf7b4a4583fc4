/**
 * As much of a fetch `Response` as the model providers touch: status, headers, and a body with a reader. A body that is
 * already whole is handed over as one chunk; a stream goes through a queue that pauses the sender while its reader is behind.
 */
import { createJoinedEvents } from './joined-events.ts';

export interface TransportReader {
  read(): Promise<{ readonly done: boolean; readonly value: Uint8Array | undefined }>;
  cancel(): Promise<void>;
  releaseLock(): void;
}

export interface TransportResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  /** A map answers `get` and iterates over pairs, which is all that is asked of headers. Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: { getReader(): TransportReader; cancel(): Promise<void> };
  text(): Promise<string>;
}

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly url: string;
}

const END = { done: true, value: undefined } as const;

export function wholeResponse(head: ResponseHead, bytes: Uint8Array): TransportResponse {
  let left: Uint8Array | undefined = bytes;
  const reader: TransportReader = {
    read: () => {
      if (left === undefined || left.length === 0) return Promise.resolve(END);
      const value = left;
      left = undefined;
      return Promise.resolve({ done: false, value });
    },
    cancel: () => Promise.resolve(),
    releaseLock: () => undefined,
  };
  return {
    ...head,
    ok: isSuccess(head),
    body: { getReader: () => reader, cancel: reader.cancel },
    text: () => Promise.resolve(new TextDecoder().decode(bytes)),
  };
}

export function streamedResponse(head: ResponseHead, queue: ByteQueue): TransportResponse {
  return {
    ...head,
    ok: isSuccess(head),
    body: { getReader: () => queue.reader, cancel: queue.reader.cancel },
    text: async () => {
      const decoder = new TextDecoder();
      let text = '';
      for (;;) {
        const { done, value } = await queue.reader.read();
        if (done) return text + decoder.decode();
        text += decoder.decode(value, { stream: true });
      }
    },
  };
}

export interface ByteQueue {
  readonly reader: TransportReader;
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
}

/** The sender is paused above this, so a slow reader costs at most this much and one chunk. */
const HIGH_WATER_BYTES = 64 * 1024;

interface Sender {
  pause(): void;
  resume(): void;
  stop(): void;
}

export function createByteQueue(sender: Sender): ByteQueue {
  let chunks: Uint8Array[] = [];
  let waitingBytes = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const together = createJoinedEvents();
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const read: TransportReader['read'] = async () => {
    while (chunks.length === 0 && !ended && failure === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
    if (chunks.length === 0) return END;
    // All that the network brought at once goes on together.
    const [first, ...more] = chunks;
    const value = first !== undefined && more.length === 0 ? first : Buffer.concat(chunks);
    const wasPaused = waitingBytes > HIGH_WATER_BYTES;
    [chunks, waitingBytes] = [[], 0];
    if (wasPaused) sender.resume();
    return { done: false, value: together.take(value) };
  };
  const cancel = (): Promise<void> => {
    if (!ended && failure === undefined) sender.stop();
    ended = true;
    chunks = [];
    notify();
    return Promise.resolve();
  };
  return {
    reader: { read, cancel, releaseLock: () => undefined },
    push: (chunk) => {
      if (ended) return;
      chunks.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > HIGH_WATER_BYTES) sender.pause();
      notify();
    },
    end: () => {
      ended = true;
      notify();
    },
    fail: (error) => {
      failure ??= error;
      notify();
    },
  };
}

function isSuccess(head: ResponseHead): boolean {
  return head.status >= 200 && head.status < 300;
}
