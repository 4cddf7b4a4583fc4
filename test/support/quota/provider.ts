/** A provider that takes so many calls at once, or so many a second, and refuses the rest; it remembers what it saw. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';

interface Seen {
  readonly at: number;
  readonly worker: string;
  readonly refused: boolean;
  /** How many refusals of its own the worker knew of when it called. */
  readonly knew: number;
}

export interface QuotaProvider {
  readonly url: string;
  readonly seen: readonly Seen[];
  inFlight(): number;
  mostInFlight(): number;
  /** Calls that came before a pause was over that their worker knew of. What a slow machine delays is no such call. */
  callsDuringPause(): readonly Seen[];
  close(): Promise<void>;
}

export interface ProviderLimits {
  readonly atOnce?: number;
  readonly perSecond?: number;
  readonly callMs: number;
  readonly retryAfterMs: number;
  /** No call is answered before so many have been under way at once. */
  readonly togetherFirst?: number;
}

export async function startQuotaProvider(rules: ProviderLimits): Promise<QuotaProvider> {
  const { atOnce, perSecond, callMs, retryAfterMs, togetherFirst = 0 } = rules;
  const seen: Seen[] = [];
  const together = Promise.withResolvers<void>();
  let inFlight = 0;
  let most = 0;
  const isTooMuch = (now: number): boolean => {
    if (atOnce !== undefined && inFlight >= atOnce) return true;
    const recent = seen.filter(({ at, refused }) => !refused && at > now - 1_000).length;
    return perSecond !== undefined && recent >= perSecond;
  };
  const server = createServer((request, response) => {
    const now = systemClock.elapsed();
    const refused = isTooMuch(now);
    const knew = Number(request.headers['x-refusals']);
    seen.push({ at: now, worker: String(request.headers['x-worker']), refused, knew });
    if (refused) {
      response.writeHead(429, { 'retry-after-ms': String(retryAfterMs) }).end();
      return;
    }
    inFlight += 1;
    most = Math.max(most, inFlight);
    if (most >= togetherFirst) together.resolve();
    response.once('close', () => {
      inFlight -= 1;
    });
    void together.promise.then(() => setTimeout(() => response.end('fine'), callMs));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    inFlight: () => inFlight,
    mostInFlight: () => most,
    callsDuringPause: () =>
      seen.filter((call) => {
        // Whichever refusals it knew of, the last of them was not said before this one.
        const said = seen.filter(({ worker, refused }) => refused && worker === call.worker)[call.knew - 1];
        return said !== undefined && call.at < said.at + retryAfterMs;
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
