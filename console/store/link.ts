/**
 * A stream that is kept open: it comes back by itself from where it was, and says in words how it stands. What the server refuses
 * for good (nobody is logged in, there is no such session) is not asked for again.
 */
import { type Refusal, refusalIn, unreachable } from '../api/client.ts';
import { createFrameReader, type Frame } from './server-sent.ts';

export type LinkState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /** Cut off; tried again by itself. */
  | { readonly state: 'lost'; readonly since: number; readonly refusal: Refusal }
  | { readonly state: 'refused'; readonly refusal: Refusal };

export interface LinkOptions {
  /** Where to go on from, each time: what was had already is in the address. */
  address(): string;
  onFrame(frame: Frame): void;
  onComment(text: string): void;
  onState(state: LinkState): void;
}

const FINAL = new Set([400, 401, 403, 404, 409, 410]);
const PAUSES_MS = [500, 1_000, 2_000, 5_000];

/** Returns what closes it. */
export function openLink(options: LinkOptions): () => void {
  const closed = new AbortController();
  void keepOpen(options, closed.signal);
  return () => closed.abort();
}

async function keepOpen(options: LinkOptions, signal: AbortSignal): Promise<void> {
  options.onState({ state: 'connecting' });
  let failures = 0;
  let since = 0;
  while (!signal.aborted) {
    const refusal = await follow(options, signal, () => {
      failures = 0;
      options.onState({ state: 'open' });
    });
    if (signal.aborted) return;
    if (FINAL.has(refusal.status)) return options.onState({ state: 'refused', refusal });
    if (failures === 0) since = Date.now();
    options.onState({ state: 'lost', since, refusal });
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0, signal);
    failures += 1;
  }
}

/** Reads until there is no more; why it ended. */
async function follow(options: LinkOptions, signal: AbortSignal, opened: () => void): Promise<Refusal> {
  try {
    const response = await fetch(options.address(), { signal, headers: { accept: 'text/event-stream' }, cache: 'no-store' });
    if (!response.ok || response.body === null) return await refusalIn(response);
    opened();
    const reader = createFrameReader(options.onFrame, options.onComment);
    const decoder = new TextDecoder();
    for await (const piece of response.body) reader.push(decoder.decode(piece, { stream: true }));
    return { ...unreachable(undefined), message: 'The server has ended the stream.' };
  } catch (error) {
    return unreachable(error);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const now = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', now, { once: true });
    window.addEventListener('online', now, { once: true });
  });
}
