/** The stores for large payloads: what both promise, and what a bucket does when its server, its keys or the network fail. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BlobStoreUnderTest, blobConformance } from '../../../test/conformance/blobs/checks.ts';
import { artifactChecks } from '../../../test/conformance/ledger/artifacts.ts';
import { appendOrFail, givenRun, note } from '../../../test/conformance/ledger/support.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import { answering, hangingUp, type S3Server, startS3 } from '../../../test/support/ledger/s3-server.ts';
import { testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { FOR_EVER_MS } from '../../../test/support/patience.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { PayloadRef } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { seededRandom } from '../../base/random.ts';
import type { Ledger } from '../port.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../postgres/store.ts';
import { payloadRef } from '../rules/chain.ts';
import { type BlobBucketOptions, openBlobBucket } from './bucket.ts';
import { createBlobDirectory } from './directory.ts';
import { parseBucket } from './place.ts';
import type { BlobStore } from './store.ts';

let s3: S3Server;
let postgres: PostgresServer;
beforeAll(async () => {
  [s3, postgres] = await Promise.all([startS3(), startPostgres()]);
});
// One that no request has met would wait for those of the next test.
afterEach(() => expect(s3.unmet()).toBe(0));
afterAll(() => Promise.all([s3.stop(), postgres.stop()]));

/** However slow the machine is, no patience runs out on it. */
const patient: Clock = {
  ...systemClock,
  elapsed: () => 0,
  after: (delay, callback, hold) => systemClock.after(delay > limits.bucketRetryMaxMs ? FOR_EVER_MS : delay, callback, hold),
};

/** And pauses take no time. */
const hurried: Clock = {
  ...patient,
  after: (delay, callback, hold) => patient.after(delay > limits.bucketRetryMaxMs ? delay : 1, callback, hold),
};

/** The time of each request is over when `ring` is called, and not before the server has seen it. */
function ringing(): { readonly clock: Clock; ring(): void } {
  const due: (() => void)[] = [];
  const after: Clock['after'] = (delay, callback, hold) => {
    if (delay <= limits.bucketRetryMaxMs) return hurried.after(delay, callback, hold);
    due.push(callback);
    return () => undefined;
  };
  const ring = (): void => {
    for (const callback of due.splice(0)) callback();
  };
  return { clock: { ...hurried, after }, ring };
}

const address = (prefix: string, more: Readonly<Record<string, string>> = {}): URLSearchParams =>
  new URLSearchParams({ payloads: `s3://${s3.bucket}/${prefix}`, endpoint: s3.endpoint, region: 'eu-test-1', ...more });

function bucket(prefix: string, more: Readonly<Record<string, string>> = {}, options: Partial<BlobBucketOptions> = {}) {
  const place = parseBucket(address(prefix, more));
  if (!place.ok || place.value === undefined) throw new Error('not a bucket');
  return openBlobBucket(place.value, { clock: hurried, random: seededRandom(1), env: s3.env, pageKeys: 10, ...options });
}

let count = 0;
const newPrefix = (): string => {
  count += 1;
  return `ledgers/number-${count}`;
};

async function directoryUnderTest(): Promise<BlobStoreUnderTest> {
  const folder = testFolder();
  return {
    store: createBlobDirectory(folder, 'one'),
    another: async () => createBlobDirectory(folder, 'another'),
    plant: (name, bytes, at) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      utimesSync(path, at, at);
    },
  };
}

async function bucketUnderTest(): Promise<BlobStoreUnderTest> {
  const prefix = newPrefix();
  return {
    store: await bucket(prefix),
    another: () => bucket(prefix),
    plant: (name, bytes, at) => s3.plant(`${prefix}/${name}`, bytes, at),
  };
}

describe.each([
  ['a shared folder', directoryUnderTest],
  ['a bucket', bucketUnderTest],
])('%s', (_name, open) => {
  it.each(blobConformance.map(({ name, check }) => [name, check] as const))('%s', async (_check, check) => {
    await check(open);
  });
});

const write = (store: BlobStore, body: string): Promise<void> => store.write(payloadRef(body), body);
const failing = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => 'it worked',
    (error: unknown) => error,
  );
const errorText = (error: unknown): string =>
  error instanceof Error ? `${error.stack} ${JSON.stringify(error)} ${errorText(error.cause)}` : String(error);

async function drained(store: BlobStore): Promise<readonly PayloadRef[]> {
  const refs: PayloadRef[] = [];
  for await (const ref of store.olderThan(Number.MAX_SAFE_INTEGER)) refs.push(ref);
  return refs;
}

describe('what a bucket is asked', () => {
  it('is whether the bytes are there, and they are sent only when they are not', async () => {
    const prefix = newPrefix();
    const store = await bucket(prefix);
    s3.requests();
    for (let round = 0; round < 3; round += 1) await write(store, 'once');
    expect(s3.requests().map((line) => line.split(' ')[0])).toEqual(['HEAD', 'PUT', 'HEAD', 'HEAD']);
  });

  it('is the list page by page', async () => {
    const store = await bucket(newPrefix());
    for (let index = 0; index < 25; index += 1) await write(store, `number ${index}`);
    s3.requests();
    expect(await drained(store)).toHaveLength(25);
    const asked = s3.requests();
    expect(asked).toHaveLength(3);
    expect(asked[2]).toMatch(/list-type=2&max-keys=10&prefix=ledgers%2Fnumber-\d+%2F&continuation-token=/);
  });

  it('is the same again when it fails in passing', async () => {
    const store = await bucket(newPrefix());
    s3.fail(answering(503, '<Error><Code>SlowDown</Code></Error>'), hangingUp, answering(429), answering(500));
    await write(store, 'at last');
    const timeout = answering(400, '<Error><Code>RequestTimeout</Code></Error>');
    s3.fail(timeout, answering(502));
    expect(await store.read(payloadRef('at last'))).toEqual(Buffer.from('at last'));
    s3.fail(hangingUp);
    expect(await drained(store)).toHaveLength(1);
    s3.fail(answering(504));
    await store.remove(payloadRef('at last'));
    expect(await drained(store)).toEqual([]);
  });

  it('is given up in the end', async () => {
    const store = await bucket(newPrefix());
    s3.requests();
    s3.fail(...Array.from({ length: limits.bucketAttempts }, () => answering(503)));
    const error = await failing(write(store, 'never'));
    expect(error).toMatchObject({ code: 'ledger_bucket_unreachable', fix: expect.stringContaining('resume') });
    expect(s3.requests()).toHaveLength(limits.bucketAttempts);
  });

  it('is not waited for when there is no answer', async () => {
    const { clock, ring } = ringing();
    const store = await bucket(newPrefix(), {}, { clock });
    s3.fail(...Array.from({ length: limits.bucketAttempts }, () => ring));
    expect(await failing(store.read(payloadRef('x')))).toMatchObject({
      code: 'ledger_bucket_unreachable',
      message: expect.stringContaining('no answer in time'),
    });
  });
});

describe('a bucket says so, and never shows a key, when', () => {
  const wrong = (more: Readonly<Record<string, string | undefined>>) => ({ env: { ...s3.env, ...more } });
  const secret = 'not-the-secret-of-tests';

  it.each([
    ['there is no such bucket', { payloads: 's3://nowhere' }, () => ({}), 'ledger_bucket_missing', /Create the bucket/],
    ['the secret is wrong', {}, () => wrong({ AWS_SECRET_ACCESS_KEY: secret }), 'ledger_bucket_denied', /AWS_SECRET_ACCESS_KEY/],
    ['the key is unknown', {}, () => wrong({ AWS_ACCESS_KEY_ID: 'SOMEBODY' }), 'ledger_bucket_denied', /AWS_ACCESS_KEY_ID/],
    ['the token has expired', {}, () => wrong({ AWS_SESSION_TOKEN: secret }), 'ledger_bucket_denied', /AWS_SESSION_TOKEN/],
    ['the token is missing', {}, () => wrong({ AWS_SESSION_TOKEN: undefined }), 'ledger_bucket_denied', /AWS_SESSION_TOKEN/],
    ['the region is another', { region: 'us-west-2' }, () => ({}), 'ledger_bucket_region', /&region=/],
    ['nobody listens', { endpoint: 'http://127.0.0.1:1' }, () => ({}), 'ledger_bucket_unreachable', /check the endpoint/],
    [
      'the clock is wrong',
      {},
      () => ({ clock: { ...hurried, now: () => systemClock.now() - 3_600_000 } }),
      'ledger_bucket_denied',
      /Set the clock/,
    ],
  ])('%s', async (_name, more, options, code, fix) => {
    const store = await bucket(newPrefix(), more, options());
    const attempts = [write(store, 'x'), store.read(payloadRef('x')), store.remove(payloadRef('x')), drained(store)];
    for (const error of await Promise.all(attempts.map(failing))) {
      expect(error).toMatchObject({ code, fix: expect.stringMatching(fix) });
      expect(errorText(error)).not.toMatch(/of.tests|AKEY|SOMEBODY|Signature=/);
    }
  });

  it('there are no keys', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) {
      await expect(bucket(newPrefix(), {}, wrong({ [name]: undefined }))).rejects.toMatchObject({ code: 'ledger_bucket_keys' });
    }
  });

  it('it is sent elsewhere, where it does not go', async () => {
    const store = await bucket(newPrefix());
    s3.requests();
    s3.fail(answering(307, '', { location: `${s3.endpoint}/elsewhere`, 'x-amz-bucket-region': 'eu-west-9' }));
    const error = await failing(store.read(payloadRef('x')));
    expect(error).toMatchObject({ code: 'ledger_bucket_region', fix: expect.stringContaining('&region=eu-west-9') });
    expect(s3.requests()).toHaveLength(1);
  });

  it('the keys may not do it', async () => {
    const store = await bucket(newPrefix());
    s3.fail(answering(403), answering(403, '<Error><Code>AccessDenied</Code></Error>'));
    expect(await failing(write(store, 'x'))).toMatchObject({
      code: 'ledger_bucket_denied',
      fix: expect.stringContaining('s3:GetObject, PutObject, DeleteObject, ListBucket'),
    });
  });

  it.each([
    ['a web page', '<!DOCTYPE html><html></html>'],
    ['nothing', ''],
    ['a list without an end', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
    ['an object without a time', '<ListBucketResult><Contents><Key>x</Key></Contents></ListBucketResult>'],
    ['more than a list can be', ' '.repeat(limits.bucketAnswerBytes + 1)],
  ])('the list is %s', async (_name, body) => {
    const store = await bucket(newPrefix());
    s3.fail(answering(200, body));
    expect(await failing(drained(store))).toMatchObject({ code: 'ledger_bucket_answer' });
  });

  it('the list goes round in circles', async () => {
    const store = await bucket(newPrefix());
    const token = '<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>';
    const page = answering(200, `<ListBucketResult>${token}</ListBucketResult>`);
    s3.fail(page, page);
    expect(await failing(drained(store))).toMatchObject({
      code: 'ledger_bucket_answer',
      message: expect.stringContaining('go on'),
    });
  });

  it('a blob is too large, in either direction', async () => {
    const store = await bucket(newPrefix());
    const large = new Uint8Array(limits.payloadBytes + 1);
    s3.requests();
    expect(await failing(store.write(payloadRef('x'), large))).toMatchObject({ code: 'payload_too_large' });
    expect(s3.requests()).toEqual([]);
    s3.fail((response) => response.writeHead(200, { 'content-length': limits.payloadBytes + 1 }).write('x'));
    expect(await failing(store.read(payloadRef('x')))).toMatchObject({ code: 'payload_too_large' });
  });

  it('the bytes do not have the hash they are named by', async () => {
    const store = await bucket(newPrefix());
    expect(await failing(store.write(payloadRef('other'), 'these'))).toMatchObject({ code: 'ledger_bucket_answer' });
  });
});

describe('a Postgres ledger with a bucket', () => {
  const ledgerAt = (schema: string, prefix: string, more: Partial<PostgresLedgerOptions> = {}): Promise<Ledger> =>
    openPostgresLedger({
      url: `${postgres.address(schema)}&${address(prefix)}`,
      clock: patient,
      ids: testIds,
      validate: true,
      env: s3.env,
      ...more,
    });

  it.each(artifactChecks.map(({ name, check }, index) => [name, check, index] as const))('%s', async (_name, check, index) => {
    const prefix = newPrefix();
    const opened: Ledger[] = [];
    const open = async (): Promise<Ledger> => {
      const ledger = await ledgerAt(`artifacts_${index}`, prefix);
      opened.push(ledger);
      return ledger;
    };
    const reopen = async (): Promise<Ledger> => {
      for (const ledger of opened.splice(0)) await ledger.close();
      return await open();
    };
    const { session: newSession, run: newRun } = testIds;
    await check(async () => ({ ledger: await open(), another: open, reopen, newSession, newRun, secret: '' }));
    for (const ledger of opened) await ledger.close();
  });

  it('keeps large payloads there, gives them up, takes them again, and finds those that were changed', async () => {
    const prefix = newPrefix();
    const ledger = await ledgerAt('with_bucket', prefix);
    const store = await bucket(prefix);
    const large = ['a', 'b', 'c'].map((letter) => letter.repeat(limits.payloadInlineBytes));
    const old = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
    await appendOrFail(old, [
      ...large.map((text) => note(old, text)),
      note(old, `small, with ${s3.env['AWS_SECRET_ACCESS_KEY']}`),
    ]);
    const events = await ledger.read({ session: old.session });
    expect(events.slice(1, 4).map(({ payload }) => payload)).toEqual(large.map((value) => ({ value })));
    expect(JSON.stringify(events[4])).toContain('[redacted:AWS_SECRET_ACCESS_KEY]');
    expect(await drained(store)).toHaveLength(3);
    await appendOrFail(old, [old.ending()]);
    await ledger.release(old.fence);

    s3.plant(`${prefix}/ab/${'c'.repeat(62)}`, 'of a commit that failed', new Date(1));
    const { payloads } = await ledger.gc({ olderThanMs: 1_000, now: systemClock.now(), dryRun: false });
    expect(payloads).toBe(6);
    expect(await drained(store)).toEqual([]);

    const young = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
    await appendOrFail(
      young,
      large.slice(0, 2).map((text) => note(young, text)),
    );
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', tombstones: 3 });
    const [ref = ''] = await drained(store);
    s3.plant(`${prefix}/${ref.slice(0, 2)}/${ref.slice(2)}`, 'forged');
    expect(await ledger.verify()).toMatchObject({ kind: 'broken', why: expect.stringContaining('do not match their hash') });
    await ledger.close();
  });

  it('refuses an append whose payload cannot be put there, and goes on when it can', async () => {
    const prefix = newPrefix();
    const ledger = await ledgerAt('denied', prefix);
    const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
    const large = note(writer, 'd'.repeat(limits.payloadInlineBytes));
    s3.fail(answering(403), answering(403));
    await expect(ledger.append(writer.request([large]))).rejects.toMatchObject({ code: 'ledger_bucket_denied' });
    await appendOrFail(writer, [large]);
    expect(await ledger.read({ session: writer.session })).toHaveLength(2);
    await ledger.close();
  });

  describe('that is collected', () => {
    /** When whoever collects last asked the server something. It stands still while the bucket is at work. */
    const lastQuestions = async (): Promise<unknown[]> => {
      const standing = "SELECT query_start::text AS at FROM pg_stat_activity WHERE state = 'idle in transaction'";
      return (await postgres.query(standing)).map(({ at }) => at);
    };
    const plantLeftovers = (prefix: string): void => {
      for (const letter of ['a', 'b', 'c'])
        s3.plant(`${prefix}/${letter.repeat(2)}/${letter.repeat(62)}`, 'a leftover', new Date(1));
    };
    const collect = (ledger: Ledger): Promise<unknown> =>
      ledger
        .gc({ olderThanMs: 1_000, now: systemClock.now(), dryRun: false })
        .then(() => 'collected', codeOf)
        .finally(() => s3.before(undefined));

    it('is asked for the lock before each removal, so that only one of them can take too long', async () => {
      const prefix = newPrefix();
      const ledger = await ledgerAt('slowly', prefix);
      plantLeftovers(prefix);
      const asked: unknown[] = [];
      s3.before(async (request) => {
        if (request.startsWith('DELETE ')) asked.push(...(await lastQuestions()));
      });
      expect(await collect(ledger)).toBe('collected');
      expect(asked).toHaveLength(3);
      expect(new Set(asked).size).toBe(3);
      expect(await drained(await bucket(prefix))).toEqual([]);
      await ledger.close();
    });

    it('loses no more once the lock is lost, as it is when a removal takes longer than a lease lasts', async () => {
      const prefix = newPrefix();
      await (await ledgerAt('too_slowly', prefix)).close();
      const ledger = await ledgerAt('too_slowly', prefix, { leaseMs: 300 });
      plantLeftovers(prefix);
      let removals = 0;
      s3.before(async (request) => {
        if (!request.startsWith('DELETE ')) return;
        removals += 1;
        await expect.poll(lastQuestions).toEqual([]);
      });
      expect(await collect(ledger)).toBe('ledger_unreachable');
      // None at all, if the machine stood still before the first.
      expect(removals).toBeLessThanOrEqual(1);
      expect(await drained(await bucket(prefix))).toHaveLength(3 - removals);
      await ledger.close();
    });
  });

  it('is not opened without keys', async () => {
    await expect(ledgerAt('without_keys', newPrefix(), { env: {} })).rejects.toMatchObject({ code: 'ledger_bucket_keys' });
  });
});
