/**
 * Tells an address something by POST, for whoever wants to be told: only where it may be reached, within its time, again and
 * again when it does not answer, each time later, and in the end given up. Redirects are not followed.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { reachableAddresses } from './addresses.ts';
import { sendRequest } from './http-request.ts';

export interface ToldPlace {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it may be in a network of one's own. */
  readonly allowLocal: boolean;
}

export interface TellingNeeds {
  readonly clock: Clock;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

const GONE = 'it says that it is gone (410)';

/** Its name is looked up anew each time: where it leads may have changed, to the inside for one. */
export async function tellOnce({ clock, stopping }: TellingNeeds, place: ToldPlace): Promise<Result<void, string>> {
  const url = new URL(place.url);
  const addresses = await reachableAddresses(url.hostname, place.allowLocal);
  if (!addresses.ok) return fail(addresses.error.message);
  const patience = new AbortController();
  const stop = clock.after(limits.a2aPushMs, () => patience.abort(new Error('no answer in time (a2aPushMs)')));
  const signal = AbortSignal.any([patience.signal, stopping]);
  const { headers, body } = place;
  try {
    const sent = await sendRequest({ url, method: 'POST', addresses: addresses.value, maxBytes: 1_024, signal, body, headers });
    if (!sent.ok) return sent;
    const { status } = sent.value;
    if (status >= 200 && status < 300) return ok(undefined);
    return fail(status === 410 ? GONE : `it answered ${status}`);
  } finally {
    stop();
  }
}

/** `left`: nobody wants it there any more, or we stop. */
export type TellOutcome = { readonly kind: 'told' | 'left' } | { readonly kind: 'failed'; readonly why: string };

const LEFT: TellOutcome = { kind: 'left' };

/** Until it is told: after a failure again, each time twice as long later. `once` gives nothing when nobody wants it any more. */
export async function tellUntilTold(
  { clock, stopping }: TellingNeeds,
  once: () => Promise<Result<void, string> | undefined>,
): Promise<TellOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const told = await once();
    if (told === undefined || stopping.aborted) return LEFT;
    if (told.ok) return { kind: 'told' };
    if (told.error === GONE || attempt === limits.a2aPushAttempts) return { kind: 'failed', why: told.error.slice(0, 500) };
    const delay = Math.min(limits.a2aPushRetryMs * 2 ** (attempt - 1), limits.a2aPushRetryMaxMs);
    if ((await sleep(clock, delay, stopping)) !== 'elapsed') return LEFT;
  }
}
