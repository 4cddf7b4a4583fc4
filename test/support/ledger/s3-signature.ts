/** Checks Amazon's signature version 4 of a request, written from its description and with nothing but node:crypto. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
/** What a request must have signed, so that nobody can change it on its way. */
const SIGNED = ['host', 'x-amz-content-sha256', 'x-amz-date'];
const SKEW_MS = 15 * 60 * 1000;

export interface S3Keys {
  readonly id: string;
  readonly secret: string;
  readonly token?: string;
  readonly region: string;
}

/** S3's word for what is wrong; `undefined` when the signature is right. */
export function signatureProblem(request: IncomingMessage, body: Buffer, keys: S3Keys): string | undefined {
  const [, id, day = '', region = '', names = '', signature = ''] = AUTHORIZATION.exec(request.headers.authorization ?? '') ?? [];
  const header = (name: string): string => String(request.headers[name] ?? '').trim();
  if (id === undefined) return 'AccessDenied';
  if (id !== keys.id) return 'InvalidAccessKeyId';
  if (region !== keys.region) return 'AuthorizationHeaderMalformed';
  if (header('x-amz-security-token') !== (keys.token ?? '')) return 'InvalidToken';
  if (header('x-amz-content-sha256') !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const must = keys.token === undefined ? SIGNED : [...SIGNED, 'x-amz-security-token'];
  if (must.some((name) => !names.split(';').includes(name))) return 'AccessDenied';
  const date = header('x-amz-date');
  const time = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!date.startsWith(day) || !(Math.abs(Date.now() - time) < SKEW_MS)) return 'RequestTimeTooSkewed';

  const canonical = [
    request.method,
    ...canonicalUrl(request.url ?? '/'),
    ...names.split(';').map((name) => `${name}:${header(name)}`),
    '',
    names,
    header('x-amz-content-sha256'),
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [day, region, 's3', 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${keys.secret}`));
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(Buffer.from(canonical))].join('\n'));
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch';
}

function canonicalUrl(url: string): readonly [string, string] {
  const { pathname, searchParams } = new URL(url, 'http://host');
  const path = pathname.split('/').map((part) => encode(decodeURIComponent(part)));
  const query = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  return [path.join('/'), query.join('&')];
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
