/** A provider that takes so many calls at once, or so many a second, and refuses the rest; it remembers what it saw. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Seen {
  readonly at: number;
  readonly worker: string;
  readonly refused: boolean;
}

export interface QuotaProvider {
  readonly url: string;
  readonly seen: readonly Seen[];
  inFlight(): number;
  /** Calls that came during a pause: so many milliseconds after it was asked for, and so many before its end. */
  lateCalls(newsMs: number, endMs: number): number;
  close(): Promise<void>;
}

export interface ProviderLimits {
  readonly atOnce?: number;
  readonly perSecond?: number;
  readonly callMs: number;
  readonly retryAfterMs: number;
}

export async function startQuotaProvider({ atOnce, perSecond, callMs, retryAfterMs }: ProviderLimits): Promise<QuotaProvider> {
  const seen: Seen[] = [];
  let inFlight = 0;
  const isTooMuch = (now: number): boolean => {
    if (atOnce !== undefined && inFlight >= atOnce) return true;
    const recent = seen.filter(({ at, refused }) => !refused && at > now - 1_000).length;
    return perSecond !== undefined && recent >= perSecond;
  };
  const server = createServer((request, response) => {
    const now = performance.now();
    const refused = isTooMuch(now);
    seen.push({ at: now, worker: String(request.headers['x-worker']), refused });
    if (refused) {
      response.writeHead(429, { 'retry-after-ms': String(retryAfterMs) }).end();
      return;
    }
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
    });
    setTimeout(() => response.end('fine'), callMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    inFlight: () => inFlight,
    lateCalls: (newsMs, endMs) => {
      const refusals = seen.filter(({ refused }) => refused).map(({ at }) => at);
      return seen.filter(({ at }) => refusals.some((said) => at > said + newsMs && at < said + retryAfterMs - endMs)).length;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
