/** Conformance: artifacts, whose bytes are attached to events. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArtifactArchive } from '../../../src/artifacts/archive.ts';
import type { PutArtifact } from '../../../src/artifacts/port.ts';
import { artifactRetention } from '../../../src/artifacts/retention.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { limits } from '../../../src/base/limits.ts';
import { artifactTypes } from '../../../src/events/evidence.ts';
import { contentOf, storedIn, testArtifacts } from '../../support/artifacts/sink.ts';
import { appendOrFail, type ConformanceCheck, givenRun, upTo } from './support.ts';

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const wanted = (bytes: string | Uint8Array, more: Partial<PutArtifact> = {}): PutArtifact => ({
  ...{ type: 'doc', name: 'notes.txt', generatedBy: 'a test' },
  source: { kind: 'bytes', bytes },
  ...more,
});

export const artifactChecks: readonly ConformanceCheck[] = [
  {
    name: 'keeps artifacts of any bytes, under their checksums',
    check: async (open) => {
      const writer = await givenRun(await open());
      const artifacts = await testArtifacts(writer);
      const all = Uint8Array.from({ length: 256 }, (_, index) => index);
      const contents = ['a text – 更大 🎭', '', all, new Uint8Array([0xff, 0xfe]), 'x'.repeat(limits.payloadInlineBytes + 1)];
      for (const [index, bytes] of contents.entries()) await artifacts.put(`put/${index}`, wanted(bytes, { noPreview: true }));
      const stored = await storedIn(writer.ledger, writer);
      assert.equal(stored.length, contents.length);
      for (const [index, artifact] of stored.entries()) {
        const bytes = Buffer.from((contents[index] ?? '') as Uint8Array);
        assert.equal(artifact.checksum, `sha256:${sha256(bytes)}`);
        assert.ok((await contentOf(writer.ledger, artifact)).equals(bytes));
      }
      assert.equal(new Set(stored.map(({ ref }) => ref)).size, contents.length);
      assert.equal((await writer.ledger.verify()).kind, 'sound');
    },
  },
  {
    name: 'keeps artifacts of every type, each found again by its reference',
    check: async (open) => {
      const writer = await givenRun(await open());
      const artifacts = await testArtifacts(writer);
      const archive = createArtifactArchive(writer.ledger, systemClock);
      for (const type of artifactTypes) {
        const put = await artifacts.put(`put/${type}`, wanted(`of type ${type}`, { type, name: `${type}.txt` }));
        assert.ok(put.ok, type);
        const found = await archive.resolve(put.value.ref, writer.session);
        assert.ok(found.ok && found.value.kind === 'artifact' && found.value.artifact.type === type, type);
        assert.equal((await contentOf(writer.ledger, found.value.artifact)).toString(), `of type ${type}`);
      }
    },
  },
  {
    name: 'keeps an artifact that is larger than a part, and reads it in another process and after a reopen',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const folder = mkdtempSync(join(tmpdir(), 'troupe-artifact-'));
      try {
        const bytes = Buffer.alloc(limits.artifactPartBytes * 2 + 17, 'abcdefghijklmnopqrstuvwxyz\u00ff', 'latin1');
        writeFileSync(join(folder, 'tool.bin'), bytes);
        const artifacts = await testArtifacts(writer);
        const source = { kind: 'file', root: folder, path: 'tool.bin' } as const;
        const put = await artifacts.put('build', wanted('', { type: 'build_output', name: 'tool.bin', source }));
        assert.ok(put.ok && put.value.checksum === `sha256:${sha256(bytes)}` && put.value.bytes === bytes.length);
        for (const open of [async () => writer.ledger, store.another, store.reopen]) {
          const ledger = (await open()) ?? writer.ledger;
          const [artifact] = await storedIn(ledger, writer);
          assert.ok(artifact !== undefined && artifact.blobs.length === 3);
          assert.ok((await contentOf(ledger, artifact)).equals(bytes));
          assert.equal((await ledger.verify()).kind, 'sound');
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
  {
    name: 'gives the same artifact for the same step, also in a later life',
    check: async (open) => {
      const writer = await givenRun(await open());
      const first = await (await testArtifacts(writer)).put('report', wanted('one'));
      const again = await (await testArtifacts(writer)).put('report', wanted('two'));
      assert.deepEqual(again, first);
      assert.equal((await storedIn(writer.ledger, writer)).length, 1);
    },
  },
  {
    name: 'gives no reference twice in a session, whoever stores at the same time',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = (await store.another()) ?? writer.ledger;
      const both = await Promise.all([testArtifacts(writer), testArtifacts({ ...writer, ledger: other })]);
      const puts = both.flatMap((artifacts, who) =>
        upTo(10).map((index) =>
          artifacts.put(`${who}/${index}`, wanted(`${who} ${index}`, { type: 'patch', name: 'patch-#.diff' })),
        ),
      );
      const refs = (await Promise.all(puts)).map((put) => (put.ok ? put.value.ref : put.error.message));
      const expected = upTo(20).map((number) => `artifact://patches/patch-${String(number).padStart(4, '0')}.diff`);
      assert.deepEqual(refs.toSorted(), expected);
    },
  },
  {
    name: 'pins artifacts and lets them go, from outside the run',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      await (await testArtifacts(writer)).put('report', wanted('one'));
      const archive = createArtifactArchive((await store.another()) ?? writer.ledger, systemClock);
      for (const pinned of [true, false]) {
        const [artifact] = await archive.list({ session: writer.session });
        assert.ok(artifact !== undefined && artifact.pinned === !pinned);
        await archive.pin(artifact, pinned, 'somebody');
      }
      assert.equal((await archive.list({ session: writer.session }))[0]?.pinned, false);
      assert.equal((await writer.ledger.verify()).kind, 'sound');
    },
  },
  {
    name: 'collects artifacts by their type, and no bytes that one which stays has too',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const artifacts = await testArtifacts(writer);
      const contents = { log_bundle: 'only a log', doc: 'said twice', patch: 'a patch' } as const;
      for (const [type, text] of Object.entries(contents))
        await artifacts.put(type, wanted(text, { type: type as PutArtifact['type'] }));
      await artifacts.put('again', wanted('said twice', { type: 'log_bundle', name: 'again.log' }));
      await appendOrFail(writer, [writer.ending()]);
      await writer.ledger.release(writer.fence);
      const later = clockAt(writer.at + 60_000);
      const keep = { log_bundle: 1_000, patch: 'forever' } as const;
      const attachments = await artifactRetention(writer.ledger, later, { keep });
      const young = { olderThanMs: 600_000, now: later.now(), dryRun: false };
      assert.equal((await writer.ledger.gc({ ...young, attachments, dryRun: true })).payloads, 1);
      assert.equal((await writer.ledger.gc({ ...young, attachments })).payloads, 1);
      const states = async () => (await storedIn(writer.ledger, writer)).map(({ collected }) => collected);
      assert.deepEqual(await states(), [true, false, false, false]);
      assert.equal((await writer.ledger.verify()).kind, 'sound');
      const old = { ...young, olderThanMs: 1_000, attachments: await artifactRetention(writer.ledger, later, { keep }) };
      await writer.ledger.gc(old);
      assert.deepEqual(await states(), [true, true, false, true]);
      const [, , patch] = await storedIn(writer.ledger, writer);
      assert.ok(patch !== undefined && (await contentOf(writer.ledger, patch)).toString() === 'a patch');
      assert.equal((await writer.ledger.verify()).kind, 'sound');
      await writer.ledger.gc({ ...old, attachments: await artifactRetention(writer.ledger, later, { keep }) });
      assert.deepEqual(await states(), [true, true, false, true]);
    },
  },
  {
    name: 'keeps an artifact that is pinned or used again while it is looked for what goes',
    check: async (open) => {
      const store = await open();
      const writers = [await givenRun(store), await givenRun(store)];
      for (const writer of writers) {
        const artifacts = await testArtifacts(writer);
        await artifacts.put('log', wanted(`log of ${writer.run}`, { type: 'log_bundle' }));
        await appendOrFail(writer, [writer.ending()]);
      }
      const [pinned, used] = writers;
      assert.ok(pinned !== undefined && used !== undefined);
      for (const writer of writers) await writer.ledger.release(writer.fence);
      const later = clockAt(pinned.at + 60_000);
      const keeping = { keep: { log_bundle: 1_000 } };
      const attachments = await artifactRetention(pinned.ledger, later, keeping);
      assert.equal(attachments.drop.length, 2);
      const archive = createArtifactArchive(pinned.ledger, systemClock);
      const [artifact] = await archive.list({ session: pinned.session });
      if (artifact !== undefined) await archive.pin(artifact, true);
      const third = await givenRun(store);
      await (await testArtifacts(third)).put('copy', wanted(`log of ${used.run}`, { type: 'doc' }));
      const policy = { olderThanMs: 600_000, now: later.now(), dryRun: false, attachments };
      assert.equal((await pinned.ledger.gc(policy)).payloads, 0);
      for (const writer of [...writers, third])
        assert.ok((await storedIn(writer.ledger, writer)).every(({ collected }) => !collected));
      const again = await artifactRetention(pinned.ledger, later, keeping);
      assert.deepEqual(again.drop, []);
    },
  },
  {
    name: 'holds artifacts to the room that all of them may take, the oldest first',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const artifacts = await testArtifacts(writer);
      for (const index of upTo(4)) await artifacts.put(`put/${index}`, wanted(`${index}`.repeat(1_000), { noPreview: true }));
      await appendOrFail(writer, [writer.ending()]);
      await writer.ledger.release(writer.fence);
      const later = clockAt(writer.at + 60_000);
      const attachments = await artifactRetention(writer.ledger, later, { maxBytes: 2_500 });
      assert.equal(attachments.drop.length, 2);
      assert.equal((await artifactRetention(writer.ledger, later, { maxBytes: 2_500, keep: { doc: 'forever' } })).drop.length, 0);
    },
  },
];

const clockAt = (now: number): Clock => ({ ...systemClock, now: () => now });
