/** Conformance: what redaction changed is kept exactly too, sealed, for what runs and for nobody else. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/base/limits.ts';
import { appendOrFail, type ConformanceCheck, givenRun, note, noteText } from './support.ts';

export const sealChecks: readonly ConformanceCheck[] = [
  {
    name: 'gives the exact payload to who asks for it, and the redacted one to everybody else',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const texts = [`token ${store.secret}, done`, 'nothing in it', `${'x'.repeat(limits.payloadInlineBytes)} ${store.secret}`];
      await appendOrFail(
        writer,
        texts.map((text, index) => ({ ...note(writer, text), step: `step/${index}` })),
      );
      const shown = await writer.ledger.read({ session: writer.session, after: 1 });
      assert.ok(!JSON.stringify(shown).includes(store.secret));
      for (const event of shown) assert.deepEqual(Object.keys(event.payload), ['value']);
      const exact = await writer.ledger.read({ session: writer.session, after: 1, exact: true });
      assert.deepEqual(exact.map(noteText), texts);
      assert.ok(exact.every((event) => event.inexact === undefined));
      for (const { payload_ref } of shown)
        assert.ok(!Buffer.from((await writer.ledger.payload(payload_ref)) ?? []).includes(store.secret));
      assert.equal((await writer.ledger.verify()).kind, 'sound');
      assert.deepEqual((await writer.ledger.read({ session: writer.session, after: 1 })).map(noteText), shown.map(noteText));
    },
  },
  {
    name: 'says of a payload that cannot be opened that it is not exact',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      await appendOrFail(writer, [note(writer, `token ${store.secret}, done`), note(writer, 'nothing in it')]);
      // Its key goes with whoever opened the store.
      const ledger = await store.reopen();
      if (ledger === undefined) return;
      const [first, second] = await ledger.read({ session: writer.session, after: 1, exact: true });
      assert.ok(first !== undefined && second !== undefined);
      assert.match(noteText(first), /^token \[redacted:\w+\], done$/);
      assert.match(first.inexact ?? '', /key/);
      assert.equal(second.inexact, undefined);
      assert.equal((await ledger.verify()).kind, 'sound');
    },
  },
  {
    name: 'collects what is sealed with its payload',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const [event] = await appendOrFail(writer, [note(writer, `token ${store.secret}`), writer.ending()]);
      await writer.ledger.release(writer.fence);
      assert.ok(event !== undefined && (await writer.ledger.payload(event.payload_ref)) !== undefined);
      await writer.ledger.gc({ olderThanMs: 1000, now: writer.at + 5000, dryRun: false });
      assert.equal(await writer.ledger.payload(event.payload_ref), undefined);
      await assert.rejects(writer.ledger.read({ session: writer.session, exact: true }), { code: 'ledger_collected' });
      assert.equal((await writer.ledger.verify()).kind, 'sound');
    },
  },
];
