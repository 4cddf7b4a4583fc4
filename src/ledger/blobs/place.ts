/**
 * Which bucket the address of a ledger names: `payloads=s3://bucket/prefix`, with `endpoint` for a server that is not
 * Amazon's and `region`. Keys are never part of it: they come from the environment.
 */
import { fail, ok, type Result } from '../../base/result.ts';

export interface BucketPlace {
  readonly bucket: string;
  /** What every name in the bucket begins with: empty, or ending in a slash. */
  readonly prefix: string;
  /** Where the bucket is, ending in a slash; the names in it follow. */
  readonly url: string;
  readonly region: string;
  /** For people and logs. */
  readonly shown: string;
}

interface Mistake {
  readonly why: string;
  readonly fix: string;
}

/** Beside `payloads`. */
export const bucketParameters = ['endpoint', 'region'] as const;

const GOOD_BUCKET =
  'Write payloads=s3://bucket/prefix&endpoint=https://host&region=name, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.';
const SCHEME = 's3://';
const REGION = 'us-east-1';
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that mean the same in a name, in an address and in a signature. A part cannot be `.` or `..`. */
const PREFIX = /^(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.-]+(?:\/|$))*$/;
const PREFIX_CHARACTERS = 512;
const REGION_NAME = /^[a-z0-9-]{1,40}$/;

export const isBucket = (payloads: string | undefined): boolean => payloads?.startsWith(SCHEME) === true;

export const isRegion = (text: string): boolean => REGION_NAME.test(text);

/** `undefined` when no bucket is named. The texts are not repeated in a mistake: somebody may have written a key there. */
export function parseBucket(parameters: URLSearchParams): Result<BucketPlace | undefined, Mistake> {
  const payloads = parameters.get('payloads') ?? '';
  const endpoint = parameters.get('endpoint') ?? undefined;
  const region = parameters.get('region') ?? REGION;
  if (!isBucket(payloads)) {
    const stray = bucketParameters.some((name) => parameters.has(name));
    return stray ? mistake('endpoint and region belong to payloads=s3://…') : ok(undefined);
  }
  const [bucket = '', ...parts] = payloads.slice(SCHEME.length).split('/');
  const path = parts.join('/');
  if (!BUCKET_NAME.test(bucket)) return mistake('after s3:// comes the name of a bucket, and nothing else before a slash');
  if (!PREFIX.test(path) || path.length > PREFIX_CHARACTERS)
    return mistake('what follows the name of the bucket must be of letters, digits and _.-/');
  if (!isRegion(region)) return mistake('region must be a plain name');
  const url = endpoint === undefined ? amazonUrl(bucket, region) : urlAt(endpoint, bucket);
  if (url === undefined) return mistake('endpoint must be https://host or http://host, without a login and without parameters');
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  const shown = `${SCHEME}${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${new URL(url).host}`}`;
  return ok({ bucket, prefix, url, region, shown });
}

/** A name with dots does not fit the certificate of Amazon's hosts. */
function amazonUrl(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`;
}

/** Other people's servers often have one host name for all buckets. */
function urlAt(endpoint: string, bucket: string): string | undefined {
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  if (!PREFIX.test(url.pathname.slice(1))) return undefined;
  return `${url.origin}${url.pathname.replace(/\/$/, '')}/${bucket}/`;
}

const mistake = (why: string): Result<never, Mistake> => fail({ why, fix: GOOD_BUCKET });
