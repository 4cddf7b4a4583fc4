/**
 * Signed requests to a bucket. Each may be sent twice without harm, so what fails in passing is sent again after a pause
 * that grows, a bounded number of times. Redirects are not followed: a signed request goes where it was meant to go.
 */

import { type Clock, sleep } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { type Secret, secretsOf } from '../../base/secrets/redact.ts';
import { payloadRef } from '../rules/chain.ts';
import {
  type BucketAnswer,
  bucketAnswerError,
  bucketError,
  bucketUnreachable,
  isPassing,
  networkProblem,
} from './bucket-errors.ts';
import { tooLarge } from './check.ts';
import type { BucketPlace } from './place.ts';

export interface BucketAccess {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Environment;
}

export interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Empty: the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** `hash` is its SHA-256: the server checks it. */
  readonly body?: { readonly bytes: Uint8Array; readonly hash: string };
  /** How many bytes the answer may have. */
  readonly most: number;
  readonly timeoutMs: number;
  /** With all attempts; `limits.bucketPatienceMs` by default. */
  readonly patienceMs?: number;
}

/** An answer that is passing is never given back, but thrown when patience has ended. */
export type AskBucket = (request: BucketRequest) => Promise<BucketAnswer>;

const SECRET_VARIABLES = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
const EMPTY = payloadRef('');

/** What must not be stored because the bucket is opened with it. */
export function bucketSecrets(env: BucketAccess['env']): readonly Secret[] {
  return secretsOf(Object.fromEntries(SECRET_VARIABLES.map((name) => [name, env[name]])));
}

export async function openBucketRequests(place: BucketPlace, access: BucketAccess): Promise<AskBucket> {
  const sign = await openSigner(place, access);
  const { clock, random } = access;

  const send = async (request: BucketRequest, timeoutMs: number): Promise<BucketAnswer | string> => {
    const signed = await sign(request);
    const late = new AbortController();
    const inTime = clock.after(timeoutMs, () => late.abort(new DOMException('no answer in time', 'TimeoutError')));
    try {
      const response = await fetch(signed.url, { ...signed.init, redirect: 'manual', signal: late.signal });
      const body = await bodyOf(response, request, place);
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (error instanceof TroupeError) throw error;
      return networkProblem(error);
    } finally {
      inTime();
    }
  };

  return async (request) => {
    const deadline = clock.elapsed() + (request.patienceMs ?? limits.bucketPatienceMs);
    let problem: BucketAnswer | string = 'no attempt was made';
    for (let attempt = 0; attempt < limits.bucketAttempts; attempt += 1) {
      if (attempt > 0) await sleep(clock, pauseBefore(attempt, random));
      const left = deadline - clock.elapsed();
      if (attempt > 0 && left <= 0) break;
      // The last attempt may outlast the patience of others, but not one that was asked for.
      const answer = await send(
        request,
        request.patienceMs === undefined ? request.timeoutMs : Math.min(request.timeoutMs, left),
      );
      if (typeof answer !== 'string' && !isPassing(answer)) return answer;
      problem = answer;
    }
    throw typeof problem === 'string' ? bucketUnreachable(place, problem) : bucketError(place, problem);
  };
}

/** Longer each time, and not the same for all who wait for the same server. */
function pauseBefore(attempt: number, random: Random): number {
  return Math.min(limits.bucketRetryMs * 2 ** (attempt - 1), limits.bucketRetryMaxMs) * (0.5 + random.fraction() / 2);
}

interface SignedRequest {
  readonly url: string;
  readonly init: { readonly method: string; readonly headers: Headers; readonly body?: Uint8Array<ArrayBuffer> };
}

async function openSigner(
  place: BucketPlace,
  { clock, env }: BucketAccess,
): Promise<(request: BucketRequest) => Promise<SignedRequest>> {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'] ?? '';
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'] ?? '';
  const sessionToken = env['AWS_SESSION_TOKEN'] ?? '';
  if (accessKeyId === '' || secretAccessKey === '') throw noKeys(place);
  const { AwsV4Signer } = await import('aws4fetch');
  const cache = new Map<string, ArrayBuffer>();
  return async ({ method, key, query = {}, body }) => {
    const url = new URL(place.url + key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, accessKeyId, secretAccessKey, cache, service: 's3', region: place.region },
      ...(sessionToken === '' ? {} : { sessionToken }),
      headers: { 'x-amz-content-sha256': body?.hash ?? EMPTY },
      datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
    const { headers } = await signer.sign();
    return { url: url.href, init: { method, headers, ...present({ body: body && new Uint8Array(body.bytes) }) } };
  };
}

/** Reads no more than was asked for, whatever the server sends. */
async function bodyOf(response: Response, { method, key, most }: BucketRequest, place: BucketPlace): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = method === 'HEAD' ? 0 : Number(response.headers.get('content-length') ?? 0);
  if (bytes <= most) {
    bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.byteLength;
      if (bytes > most) break;
      chunks.push(chunk);
    }
  } else await response.body.cancel();
  if (bytes > most) throw key === '' ? bucketAnswerError(place, `more than ${most} bytes`) : tooLarge(bytes);
  return Buffer.concat(chunks);
}

function noKeys(place: BucketPlace): TroupeError {
  return new TroupeError('ledger_bucket_keys', `There are no keys for the bucket with the large payloads: ${place.shown}`, {
    fix: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary keys) in the environment.',
  });
}
