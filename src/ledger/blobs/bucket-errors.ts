/** What a bucket and the network say when they fail, with something to do about it. Never with a key in it. */
import { codeOf, messageOf, TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { errorCode } from './listing.ts';
import { type BucketPlace, isRegion } from './place.ts';

export interface BucketAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const KEYS =
  'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, when there is one, AWS_SESSION_TOKEN, which does not live for long.';
const RIGHTS =
  'Give these keys the rights to read, write, delete and list there (s3:GetObject, PutObject, DeleteObject, ListBucket).';
const WRONG_KEYS = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
]);
const WRONG_REGION = new Set(['PermanentRedirect', 'TemporaryRedirect', 'AuthorizationHeaderMalformed']);

export const codeIn = ({ body }: BucketAnswer): string | undefined => errorCode(Buffer.from(body).toString());

/** Worth another try: the server is busy or not well, or gave up on a slow line. */
export function isPassing(answer: BucketAnswer): boolean {
  if (answer.status === 429 || answer.status === 408 || answer.status >= 500) return true;
  return answer.status === 400 && codeIn(answer) === 'RequestTimeout';
}

export function bucketError(place: BucketPlace, answer: BucketAnswer): TroupeError {
  const { status } = answer;
  const code = codeIn(answer);
  const said = `${place.shown} (${code === undefined ? '' : `${code}, `}status ${status})`;
  if (code === 'NoSuchBucket') {
    return new TroupeError('ledger_bucket_missing', `There is no such bucket: ${said}`, {
      fix: 'Create the bucket, or correct payloads, endpoint and region in the address of the ledger.',
    });
  }
  if (WRONG_REGION.has(code ?? '') || (status >= 300 && status < 400)) {
    const named = answer.headers.get('x-amz-bucket-region') ?? '';
    return new TroupeError('ledger_bucket_region', `The bucket is elsewhere, or in another region: ${said}`, {
      fix: `Add &region=${isRegion(named) ? named : 'its region'} to the address of the ledger, and check the endpoint.`,
    });
  }
  if (code === 'RequestTimeTooSkewed') {
    return new TroupeError('ledger_bucket_denied', `The clock of this machine is wrong: ${said}`, { fix: 'Set the clock.' });
  }
  if (status === 401 || status === 403 || WRONG_KEYS.has(code ?? '')) {
    return new TroupeError('ledger_bucket_denied', `The bucket refused the request: ${said}`, {
      fix: WRONG_KEYS.has(code ?? '') ? KEYS : `${KEYS} ${RIGHTS}`,
    });
  }
  if (isPassing(answer)) return bucketUnreachable(place, code ?? `status ${status}`);
  return bucketAnswerError(place, `${code ?? 'no reason given'}, status ${status}`);
}

export function bucketUnreachable(place: BucketPlace, why: string): TroupeError {
  return new TroupeError(
    'ledger_bucket_unreachable',
    `The bucket for large payloads cannot be reached: ${place.shown} (${why})`,
    {
      fix: 'Start the server or wait for it, check the endpoint in the address of the ledger, and resume the run.',
    },
  );
}

export function bucketAnswerError(place: BucketPlace, why: string): TroupeError {
  return new TroupeError('ledger_bucket_answer', `The bucket did not answer as an S3 server does: ${place.shown} (${why})`, {
    fix: 'Check that the endpoint in the address of the ledger is that of an S3-compatible server.',
  });
}

export function tooManyPages(place: BucketPlace): TroupeError {
  return new TroupeError('ledger_bucket_answer', `The list of ${place.shown} has more than ${limits.bucketPages} pages`, {
    fix: 'Give each ledger a prefix of its own in the bucket. The limit (`bucketPages`) is fixed.',
  });
}

/** What `fetch` failed of is in its cause: a code of the network. */
export function networkProblem(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return codeOf(cause) ?? messageOf(cause);
}
