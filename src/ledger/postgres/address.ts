/**
 * Where a Postgres ledger is: `postgres://user@host:5432/database`, with settings of ours among its parameters: `schema`,
 * where the tables are, and `payloads`, a folder or a bucket that all machines share for large payloads.
 *
 * The password never leaves this object except to the server: `shown` is what people and logs see.
 */
import { isAbsolute } from 'node:path';
import { TroupeError } from '../../base/errors.ts';
import { type BucketPlace, bucketParameters, isBucket, parseBucket } from '../blobs/place.ts';

export interface PostgresAddress {
  /** For the driver only: may hold the password. */
  readonly url: string;
  readonly shown: string;
  readonly schema: string;
  /** The shared folder. Without one, and without a bucket, large payloads are in the database too. */
  readonly payloads: string | undefined;
  readonly bucket: BucketPlace | undefined;
  /** Settings for the server, as `psql` takes them. */
  readonly options: string;
  readonly password: string | undefined;
}

const GOOD_ADDRESS = 'Write postgres://user@host:5432/database, and give the password in PGPASSWORD.';
const SCHEMA = 'troupe';
/** Short enough that the names of the channels, which hold it, fit into an identifier. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,39}$/;

export function isPostgresAddress(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

export function parsePostgresAddress(text: string): PostgresAddress {
  if (!isPostgresAddress(text) || !URL.canParse(text)) throw badAddress('this is not an address of a Postgres database');
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? SCHEMA;
  const bucket = parseBucket(url.searchParams);
  if (!bucket.ok) throw badAddress(bucket.error.why, bucket.error.fix);
  const named = url.searchParams.get('payloads') ?? undefined;
  const payloads = isBucket(named) ? undefined : named;
  if (!SCHEMA_NAME.test(schema)) throw badAddress('schema must be a plain name of lower-case letters, digits and _');
  if (payloads !== undefined && !isAbsolute(payloads)) throw badAddress('payloads must be an absolute path');
  const options = url.searchParams.get('options') ?? '';
  for (const ours of ['schema', 'payloads', ...bucketParameters, 'options', 'application_name']) url.searchParams.delete(ours);
  return {
    url: url.href,
    shown: withoutSecrets(url),
    schema,
    payloads,
    bucket: bucket.value,
    options,
    password: passwordOf(url),
  };
}

/** Parameters are left out too: some drivers take a password or a key there. */
function withoutSecrets(url: URL): string {
  const user = url.username === '' ? '' : `${url.username}@`;
  return `postgres://${user}${url.host}${url.pathname}`;
}

function passwordOf(url: URL): string | undefined {
  const password = url.password || (url.searchParams.get('password') ?? '');
  try {
    return password === '' ? undefined : decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** The text is not repeated: it may hold a password. */
function badAddress(why: string, fix = GOOD_ADDRESS): TroupeError {
  return new TroupeError('ledger_address', `The address of the ledger is not right: ${why}`, { fix });
}
