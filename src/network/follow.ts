/**
 * Asks an address and goes where it leads on to. Each hop is checked like the first one, and what is meant for the first place
 * alone never travels to another.
 */
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { type Address, type NoWay, reachableAddresses } from './addresses.ts';
import { type HttpResponse, REDIRECTS, sendRequest } from './http-request.ts';

/** Where a host is, unless it may not be reached. */
export type FindAddresses = (host: string, allowLocal: boolean) => Promise<Result<readonly Address[], NoWay>>;

export interface Journey {
  readonly start: string;
  readonly method: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Go to the origin of the start and nowhere else: tokens for one. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  readonly maxBytes: number;
  /** Whether the place may be in a network of one's own. */
  readonly allowLocal: (url: URL) => boolean;
  /** Why nobody may be led on from one place to the next. */
  readonly refuses?: ((next: URL, from: URL) => string | undefined) | undefined;
  readonly addresses?: FindAddresses | undefined;
  readonly signal: AbortSignal;
}

export interface Arrival {
  readonly url: URL;
  readonly response: HttpResponse;
}

export async function followRequest(journey: Journey): Promise<Result<Arrival, NoWay>> {
  const { start, refuses, signal } = journey;
  let next = checkedUrl(start);
  const origin = next.ok ? next.value.origin : '';
  for (let redirects = 0; redirects <= limits.fetchRedirects; redirects += 1) {
    if (!next.ok) return refused(next.error);
    const url = next.value;
    const find = journey.addresses ?? reachableAddresses;
    const addresses = await unlessAborted(find(url.hostname, journey.allowLocal(url)), signal);
    if (!addresses.ok) return addresses;
    const { method, maxBytes } = journey;
    const headers = { ...journey.headers, ...(url.origin === origin ? journey.ownHeaders : {}) };
    const response = await sendRequest({ url, method, headers, addresses: addresses.value, maxBytes, signal });
    if (!response.ok) return fail({ kind: 'failed', message: `${url.href}: ${response.error}` });
    const location = response.value.headers.get('location');
    if (!REDIRECTS.has(response.value.status) || location === undefined) return ok({ url, response: response.value });
    next = checkedUrl(location, url);
    const why = next.ok ? refuses?.(next.value, url) : undefined;
    if (why !== undefined) return refused(why);
  }
  return refused(`${start}: more than ${limits.fetchRedirects} redirects (fetchRedirects).`);
}

const refused = (message: string): Result<never, NoWay> => fail({ kind: 'refused', message });

/** Names are looked up by the system, which cannot be told to stop. */
async function unlessAborted<Value>(found: Promise<Result<Value, NoWay>>, signal: AbortSignal): Promise<Result<Value, NoWay>> {
  const { promise, resolve } = Promise.withResolvers<Result<Value, NoWay>>();
  const stop = (): void => resolve(fail({ kind: 'failed', message: 'it was not found in time' }));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([found, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** http and https only, without a login. */
export function checkedUrl(text: string, base?: URL): Result<URL, string> {
  const url = URL.parse(text, base?.href);
  if (url === null) return fail(`${JSON.stringify(text.slice(0, 200))} is not a valid address.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return fail(`Only http and https can be fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') return fail('Addresses with a user name or password are not fetched.');
  return ok(url);
}
