/** Conformance: artifacts, whose bytes are attached to events. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArtifactArchive } from '../../../src/artifacts/archive.ts';
import type { PutArtifact } from '../../../src/artifacts/port.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { limits } from '../../../src/base/limits.ts';
import { contentOf, storedIn, testArtifacts } from '../../support/artifacts/sink.ts';
import { type ConformanceCheck, givenRun, upTo } from './support.ts';

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
        for (const of of [async () => writer.ledger, store.another, store.reopen]) {
          const ledger = (await of()) ?? writer.ledger;
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
];
