/**
 * One batch to the collector, and what came of it. The protocol is at least once: who does not hear the answer sends the same
 * again, with the same ids.
 */
import { promisify } from 'node:util';
import { type Clock, sleep } from '../base/clock.ts';
import { isJsonObject, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { reachableAddresses } from '../network/addresses.ts';
import { type HttpResponse, sendRequest } from '../network/http-request.ts';
import { otlpRequest } from './otlp.ts';
import type { TelemetrySettings } from './settings.ts';
import type { FinishedSpan } from './span.ts';

export type SpansSent =
  /** `rejected` of them it has refused for good: they are not sent again. */
  | { readonly kind: 'sent'; readonly rejected: number; readonly why?: string }
  /** It will not take it now: later, perhaps. */
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: number }
  /** Nobody will take anything until somebody sets it right: nothing is lost, and nothing is tried again at once. */
  | { readonly kind: 'wrong'; readonly why: string };

export interface Sending {
  readonly settings: TelemetrySettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends what is under way. */
  readonly stopping: AbortSignal;
  /** Ends waiting: what is under way may be finished. */
  readonly closing: AbortSignal;
}

const BUSY: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** What it says of every batch alike: the key, the path, the form. */
const MISSET: ReadonlySet<number> = new Set([301, 302, 307, 308, 401, 403, 404, 405, 407, 415]);

/** Tries a few times, each time later, and then leaves it: whoever asks has the spans again from the ledger. */
export async function sendSpans(sending: Sending, spans: readonly FinishedSpan[]): Promise<SpansSent> {
  const { clock, random, closing } = sending;
  for (let attempt = 1; ; attempt += 1) {
    const sent = await sendOnce(sending, spans);
    if (sent.kind !== 'later' || attempt === limits.telemetryAttempts || closing.aborted) return sent;
    const growing = Math.min(limits.telemetryRetryMs * 2 ** (attempt - 1), limits.telemetryRetryMaxMs);
    const pause = sent.afterMs ?? growing * (1 / 2 + random.fraction() / 2);
    if (pause > limits.telemetryRetryMaxMs) return sent;
    if ((await sleep(clock, pause, closing)) !== 'elapsed') return sent;
  }
}

export async function sendOnce(
  { settings, clock, stopping }: Omit<Sending, 'random' | 'closing'>,
  spans: readonly FinishedSpan[],
): Promise<SpansSent> {
  const { url, headers, gzip, timeoutMs } = settings;
  const addresses = await reachableAddresses(url.hostname, true);
  if (!addresses.ok) return { kind: 'later', why: addresses.error.message };
  const text = JSON.stringify(otlpRequest(spans, settings));
  const body = gzip ? await zipped(text) : text;
  const patience = new AbortController();
  const stop = clock.after(timeoutMs, () => patience.abort(new Error(`no answer within ${timeoutMs} ms (telemetry.timeout)`)));
  const signal = AbortSignal.any([patience.signal, stopping]);
  const sentHeaders = {
    ...{ 'content-type': 'application/json', accept: 'application/json' },
    ...{ 'content-length': String(Buffer.byteLength(body)), ...(gzip ? { 'content-encoding': 'gzip' } : {}), ...headers },
  };
  try {
    const maxBytes = limits.telemetryAnswerBytes;
    const answer = await sendRequest({
      url,
      method: 'POST',
      addresses: addresses.value,
      maxBytes,
      signal,
      body,
      headers: sentHeaders,
    });
    return answer.ok ? outcomeOf(answer.value, spans.length) : { kind: 'later', why: answer.error };
  } finally {
    stop();
  }
}

async function zipped(text: string): Promise<Uint8Array> {
  const { gzip } = await import('node:zlib');
  return await promisify(gzip)(text);
}

function outcomeOf({ status, headers, body }: HttpResponse, count: number): SpansSent {
  if (status >= 200 && status < 300) return { kind: 'sent', ...rejectedIn(body) };
  const why = `it answered ${status}`;
  if (BUSY.has(status)) {
    const seconds = Number(headers.get('retry-after'));
    return { kind: 'later', why, ...(seconds > 0 ? { afterMs: seconds * 1_000 } : {}) };
  }
  if (MISSET.has(status)) return { kind: 'wrong', why };
  // This very batch it does not want: to send it again and again would hold up all that come after it.
  return { kind: 'sent', rejected: count, why };
}

/** `partialSuccess` of an answer that is good on the whole. */
function rejectedIn(body: Buffer): { readonly rejected: number; readonly why?: string } {
  const parsed = body.length === 0 ? undefined : parseJson(body.toString());
  const partial = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value['partialSuccess'] : undefined;
  if (!isJsonObject(partial)) return { rejected: 0 };
  const rejected = Number(partial['rejectedSpans'] ?? 0);
  const why = partial['errorMessage'];
  return {
    rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    ...(typeof why === 'string' && why !== '' ? { why: why.slice(0, WHY_CHARACTERS) } : {}),
  };
}

const WHY_CHARACTERS = 300;
