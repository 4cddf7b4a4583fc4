/** What every store for large payloads promises, as a list of checks. */
import assert from 'node:assert/strict';
import type { PayloadRef } from '../../../src/base/ids.ts';
import type { BlobStore } from '../../../src/ledger/blobs/store.ts';
import { payloadRef } from '../../../src/ledger/rules/chain.ts';

export interface BlobStoreUnderTest {
  /** New and empty. */
  readonly store: BlobStore;
  /** The same one, as another machine has it. */
  another(): Promise<BlobStore>;
  /** Puts bytes at a name behind the store's back, as if they had been written then. */
  plant(name: string, bytes: string, at: Date): void;
}

interface BlobCheck {
  readonly name: string;
  check(open: () => Promise<BlobStoreUnderTest>): Promise<void>;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const LONG_AGO = new Date('2020-02-02T02:02:02Z');
const UNKNOWN = payloadRef('never written');

const pathOf = (ref: PayloadRef): string => `${ref.slice(0, 2)}/${ref.slice(2)}`;

async function listed(store: BlobStore, before: number): Promise<readonly string[]> {
  const refs: string[] = [];
  for await (const ref of store.olderThan(before)) refs.push(ref);
  return refs.sort();
}

async function written(store: BlobStore, ...bodies: readonly (string | Uint8Array)[]): Promise<readonly PayloadRef[]> {
  const refs = bodies.map((body) => payloadRef(body));
  await Promise.all(bodies.map((body, index) => store.write(refs[index] ?? UNKNOWN, body)));
  return refs;
}

async function assertHolds(store: BlobStore, body: string | Uint8Array): Promise<void> {
  const found = await store.read(payloadRef(body));
  assert.ok(found !== undefined && Buffer.from(body).equals(found), 'what was written is not what is read');
}

export const blobConformance: readonly BlobCheck[] = [
  {
    name: 'gives back what was written: texts of every language, any bytes, and megabytes of them',
    check: async (open) => {
      const { store } = await open();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const bodies = ['hello', 'größer – 更大 – 🎭\r\n\u0000', bytes, new Uint8Array(), 'x'.repeat(5 * 1024 * 1024)];
      await written(store, ...bodies);
      for (const body of bodies) await assertHolds(store, body);
    },
  },
  {
    name: 'has nothing under a name that was never written',
    check: async (open) => {
      const { store } = await open();
      assert.equal(await store.read(UNKNOWN), undefined);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), []);
    },
  },
  {
    name: 'takes the same bytes any number of times, at the same time too',
    check: async (open) => {
      const { store, another } = await open();
      const other = await another();
      await Promise.all([store, other, store, other].map((each) => written(each, 'the same')));
      await written(other, 'the same');
      assert.equal((await listed(store, Number.MAX_SAFE_INTEGER)).length, 1);
      await assertHolds(other, 'the same');
    },
  },
  {
    name: 'shows every machine the same, as soon as it is written or removed',
    check: async (open) => {
      const { store, another } = await open();
      const other = await another();
      const [ref = UNKNOWN] = await written(store, 'shared');
      await assertHolds(other, 'shared');
      await other.remove(ref);
      assert.equal(await store.read(ref), undefined);
    },
  },
  {
    name: 'removes one blob and no other, does not mind when it is gone, and takes it again',
    check: async (open) => {
      const { store } = await open();
      const [gone = UNKNOWN, kept = UNKNOWN] = await written(store, 'gone', 'kept');
      await store.remove(gone);
      await store.remove(gone);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), [kept]);
      await written(store, 'gone');
      await assertHolds(store, 'gone');
    },
  },
  {
    name: 'lists what is older than a moment, and only that',
    check: async (open) => {
      const { store, plant } = await open();
      const old = payloadRef('old');
      plant(pathOf(old), 'old', LONG_AGO);
      const [young = UNKNOWN] = await written(store, 'young');
      assert.deepEqual(await listed(store, LONG_AGO.getTime()), []);
      assert.deepEqual(await listed(store, LONG_AGO.getTime() + YEAR_MS), [old]);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), [old, young].sort());
    },
  },
  {
    name: 'lists each of many once, and can be emptied meanwhile',
    check: async (open) => {
      const { store } = await open();
      const bodies = Array.from({ length: 25 }, (_, index) => `one of many: ${index}`);
      const refs = await written(store, ...bodies);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), [...refs].sort());
      for await (const ref of store.olderThan(Number.MAX_SAFE_INTEGER)) await store.remove(ref);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), []);
    },
  },
  {
    name: 'leaves what others put beside it alone',
    check: async (open) => {
      const { store, plant } = await open();
      for (const name of ['read me.txt', 'ab/short', `ab/${'C'.repeat(62)}`, 'x & <y>']) plant(name, 'a stranger', LONG_AGO);
      assert.deepEqual(await listed(store, Number.MAX_SAFE_INTEGER), []);
    },
  },
  {
    name: 'refuses to give bytes that are not what their name says',
    check: async (open) => {
      const { store, plant } = await open();
      const [ref = UNKNOWN] = await written(store, 'true');
      plant(pathOf(ref), 'forged', LONG_AGO);
      await assert.rejects(store.read(ref), { code: 'ledger_corrupt' });
    },
  },
];
