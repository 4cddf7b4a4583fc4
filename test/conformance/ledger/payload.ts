/** Conformance: payloads, and what happens to them in the long run. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/base/limits.ts';
import { appendOrFail, type ConformanceCheck, givenRun, note, noteText, upTo, writeNotes } from './support.ts';

export const payloadChecks: readonly ConformanceCheck[] = [
  {
    name: 'stores equal payloads once, and grows linearly',
    check: async (open) => {
      const writer = await givenRun(await open());
      await appendOrFail(
        writer,
        upTo(50).map(() => note(writer, 'the same')),
      );
      const small = await writer.ledger.stats();
      assert.equal(small.payloads, 2);
      await appendOrFail(
        writer,
        upTo(100).map((index) => note(writer, `different ${index} ${'x'.repeat(500)}`)),
      );
      const middle = await writer.ledger.stats();
      await appendOrFail(
        writer,
        upTo(100).map((index) => note(writer, `different ${index + 100} ${'x'.repeat(500)}`)),
      );
      const large = await writer.ledger.stats();
      const ratio = (large.payloadBytes - middle.payloadBytes) / (middle.payloadBytes - small.payloadBytes);
      assert.ok(ratio > 0.95 && ratio < 1.05, `the second hundred took ${ratio} times the bytes of the first`);
    },
  },
  {
    name: 'keeps payloads of any size and any text',
    check: async (open) => {
      const writer = await givenRun(await open());
      const strange = 'nul \u0000, a lone surrogate \ud800, 🙂, "quotes" and \\ and \u2028';
      const large = 'ä'.repeat(limits.payloadInlineBytes);
      await appendOrFail(writer, [note(writer, strange), { ...note(writer, large), attachment: `${large}!` }]);
      const [first, second] = await writer.ledger.read({ session: writer.session, after: 1 });
      assert.equal(first && noteText(first), strange);
      assert.equal(second && noteText(second), large);
      assert.ok(second?.attachment_ref);
      const attachment = await writer.ledger.payload(second.attachment_ref);
      assert.equal(Buffer.from(attachment ?? []).toString(), `${large}!`);
      await assert.rejects(
        writer.ledger.append(writer.request([{ ...note(writer, ''), attachment: 'x'.repeat(limits.payloadBytes + 1) }])),
        { code: 'payload_too_large' },
      );
      assert.equal((await writer.ledger.verify()).kind, 'sound');
    },
  },
  {
    name: 'redacts secrets before it stores them',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const text = `token ${store.secret}, done`;
      const [returned] = await appendOrFail(writer, [{ ...note(writer, text), attachment: text }]);
      const [stored] = await writer.ledger.read({ session: writer.session, after: 1 });
      assert.ok(returned && stored?.attachment_ref);
      assert.deepEqual(returned, stored);
      assert.match(noteText(stored), /^token \[redacted:\w+\], done$/);
      assert.ok(
        !Buffer.from((await writer.ledger.payload(stored.attachment_ref)) ?? [])
          .toString()
          .includes(store.secret),
      );
    },
  },
];

export const keepingChecks: readonly ConformanceCheck[] = [
  {
    name: 'keeps everything over a reopen, and goes on where it was',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      await writeNotes(writer, 5);
      await writer.ledger.append({ ...writer.request([]), counters: [{ name: 'kept', add: 4 }] });
      const before = await writer.ledger.read({ session: writer.session });
      const ledger = await store.reopen();
      if (ledger === undefined) return;
      assert.deepEqual(await ledger.read({ session: writer.session }), before);
      assert.equal(await ledger.counter('kept'), 4);
      const again = await ledger.acquire(writer.session, writer.run);
      assert.ok(again.kind === 'acquired');
      const outcome = await ledger.append({ ...writer.request([note(writer, 'more')]), fence: again.fence });
      assert.ok(outcome.kind === 'appended' && outcome.events[0]?.position === 7);
      assert.deepEqual(await ledger.verify(), { kind: 'sound', sessions: 1, events: 7, tombstones: 0, forgotten: 0 });
    },
  },
  {
    name: 'collects old payloads and leaves tombstones',
    check: async (open) => {
      const store = await open();
      const old = await givenRun(store, 'only in the old one');
      const pinned = await givenRun(store, 'only in the pinned one');
      const running = await givenRun(store, 'only in the running one');
      for (const writer of [old, pinned]) {
        await appendOrFail(writer, [note(writer, 'shared by all'), writer.ending()]);
        await writer.ledger.release(writer.fence);
      }
      await appendOrFail(running, [note(running, 'shared by all')]);
      await old.ledger.pin(pinned.session, true);
      const policy = { olderThanMs: 1000, now: old.at + 5000, dryRun: true };
      const planned = await old.ledger.gc(policy);
      assert.deepEqual(planned.sessions, [old.session]);
      assert.equal(planned.payloads, 1);
      assert.equal((await old.ledger.read({ session: old.session })).length, 3);
      const done = await old.ledger.gc({ ...policy, dryRun: false });
      assert.deepEqual({ ...done, dryRun: true }, planned);
      await assert.rejects(old.ledger.read({ session: old.session }), { code: 'ledger_collected' });
      assert.equal((await old.ledger.read({ session: pinned.session })).length, 3);
      assert.equal((await old.ledger.read({ session: running.session })).length, 2);
      const report = await old.ledger.verify();
      assert.ok(report.kind === 'sound' && report.tombstones === 1);
      const again = await givenRun(store, 'only in the old one');
      assert.equal((await again.ledger.read({ session: again.session })).length, 1);
    },
  },
];
