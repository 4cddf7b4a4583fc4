/** Conformance: holds, and what is forgotten. */
import assert from 'node:assert/strict';
import type { SessionId } from '../../../src/base/ids.ts';
import { limits } from '../../../src/base/limits.ts';
import type { ForgetRequest } from '../../../src/ledger/forgetting/port.ts';
import { standInFor } from '../../../src/ledger/rules/stand-in.ts';
import { appendOrFail, type ConformanceCheck, givenRun, note, noteText, type StoreUnderTest, type Writer } from './support.ts';

const BY = { by: 'ana', at: 1_800_000_000_000 };

async function ended(store: StoreUnderTest, prompt: string, ...notes: readonly string[]): Promise<Writer> {
  const writer = await givenRun(store, prompt);
  await appendOrFail(writer, [...notes.map((text) => note(writer, text)), writer.ending()]);
  await writer.ledger.release(writer.fence);
  return writer;
}

const whole = (...sessions: readonly SessionId[]): ForgetRequest => ({
  ...{ ...BY, dryRun: false },
  parts: sessions.map((session) => ({ session })),
});

export const forgettingChecks: readonly ConformanceCheck[] = [
  {
    name: 'forgets a session whole, and its chain still verifies',
    check: async (open) => {
      const store = await open();
      const large = 'what is large '.repeat(limits.payloadInlineBytes / 10);
      const one = await ended(store, 'only here', 'in both', large);
      const other = await ended(store, 'only there', 'in both');
      const planned = await one.ledger.forget({ ...whole(one.session), dryRun: true });
      assert.equal((await one.ledger.read({ session: one.session })).length, 4);
      const done = await one.ledger.forget(whole(one.session));
      assert.ok(done.kind === 'forgotten' && planned.kind === 'forgotten');
      assert.deepEqual({ ...done, dryRun: true }, planned);
      assert.deepEqual([done.events, done.payloads, done.left], [4, 2, []]);
      // The note and the ending are in the other one too.
      assert.deepEqual(done.shared, [{ session: other.session, payloads: 2 }]);
      await assert.rejects(one.ledger.read({ session: one.session }), {
        code: 'ledger_collected',
        message: /forgotten at .* by ana/,
      });
      assert.equal((await one.ledger.read({ session: other.session })).length, 3);
      const report = await one.ledger.verify();
      assert.ok(report.kind === 'sound' && report.forgotten === 2 && report.tombstones === 0, JSON.stringify(report));
      const standing = (await one.ledger.standings()).get(one.session);
      assert.deepEqual(standing, {
        ...{ session: one.session, pinned: false, hold: null },
        forgotten: { ...BY, upTo: 4, events: 0, unfinished: false },
      });
      const again = await one.ledger.forget(whole(one.session));
      assert.ok(again.kind === 'forgotten' && again.payloads === 0);
      const reopened = await store.reopen();
      if (reopened !== undefined) assert.deepEqual(await reopened.verify(), report);
    },
  },
  {
    name: 'forgets single events, and something of their type stands in for them',
    check: async (open) => {
      const writer = await ended(await open(), 'hello', 'kept', 'to be gone', 'kept too');
      const { ledger, session } = writer;
      const [, , event] = await ledger.read({ session });
      assert.ok(event);
      const payload = standInFor(event.event_type, event.payload);
      assert.ok(payload !== undefined);
      const parts = [{ session, events: [{ position: 3, payload }] }];
      const done = await ledger.forget({ ...BY, dryRun: false, parts });
      assert.ok(done.kind === 'forgotten' && done.payloads === 1 && done.events === 1);
      const events = await ledger.read({ session });
      assert.deepEqual(events.slice(1, 4).map(noteText), ['kept', '[forgotten]', 'kept too']);
      assert.match(events[2]?.forgotten ?? '', /by ana/);
      assert.equal(await ledger.payload(event.payload_ref), undefined);
      const [exact] = await ledger.read({ session, after: 2, limit: 1, exact: true });
      assert.match(exact?.inexact ?? '', /forgotten/);
      const report = await ledger.verify();
      assert.ok(report.kind === 'sound' && report.forgotten === 1, JSON.stringify(report));
      const both = await ledger.forget(whole(session));
      assert.ok(both.kind === 'forgotten');
      await assert.rejects(ledger.read({ session }), { code: 'ledger_collected' });
      assert.equal((await ledger.standings()).get(session)?.forgotten?.events, 0);
    },
  },
  {
    name: 'lets nobody forget what is held, unfinished or unknown, and then nothing of what was asked for',
    check: async (open) => {
      const store = await open();
      const [free, held] = [await ended(store, 'free'), await ended(store, 'held')];
      const running = await givenRun(store, 'running');
      const { ledger } = free;
      assert.equal(await ledger.hold(held.session, 'a lawsuit', BY), true);
      assert.equal(await ledger.hold(held.session, 'another', BY), false);
      assert.equal(await ledger.hold(store.newSession(), 'nobody', BY), false);
      const no = await ledger.forget(whole(free.session, held.session));
      assert.ok(no.kind === 'held' && no.hold.reason === 'a lawsuit' && no.hold.by === 'ana');
      assert.deepEqual(await ledger.forget(whole(free.session, running.session)), {
        kind: 'unfinished',
        session: running.session,
      });
      const unknown = store.newSession();
      assert.deepEqual(await ledger.forget(whole(free.session, unknown)), { kind: 'unknown', session: unknown });
      assert.equal((await ledger.read({ session: free.session })).length, 2);
      const leased = await ledger.acquire(free.session, store.newRun());
      assert.ok(leased.kind === 'acquired');
      assert.deepEqual(await ledger.forget(whole(free.session)), { kind: 'worked_on', session: free.session });
      await ledger.release(leased.fence);
      assert.equal((await ledger.forget(whole(free.session))).kind, 'forgotten');
    },
  },
  {
    name: 'forgets nothing by a rule that is pinned, or has gone on since it was looked at',
    check: async (open) => {
      const store = await open();
      const writer = await ended(store, 'hello', 'to be gone');
      const { ledger, session } = writer;
      const byRule = (upTo: number): ForgetRequest => ({
        ...{ ...BY, dryRun: false },
        parts: [{ session, events: [{ position: 2, payload: '{"value":"[forgotten]"}' }], byRule: { upTo } }],
      });
      await ledger.pin(session, true);
      assert.deepEqual(await ledger.forget(byRule(3)), { kind: 'pinned', session });
      await ledger.pin(session, false);
      assert.deepEqual(await ledger.forget(byRule(2)), { kind: 'worked_on', session });
      assert.equal(await ledger.hasForgotten(session), false);
      assert.equal((await ledger.forget(byRule(3))).kind, 'forgotten');
      assert.equal(await ledger.hasForgotten(session), true);
      assert.equal(await ledger.hasForgotten(store.newSession()), false);
    },
  },
  {
    name: 'collects nothing that is held, and remembers who held and released it',
    check: async (open) => {
      const store = await open();
      const writer = await ended(store, 'held');
      const { ledger, session } = writer;
      const policy = { olderThanMs: 1000, now: writer.at + 5000, dryRun: false };
      assert.equal(await ledger.hold(session, 'a lawsuit', BY), true);
      assert.deepEqual((await ledger.gc(policy)).sessions, []);
      assert.equal((await ledger.standings()).get(session)?.hold?.reason, 'a lawsuit');
      const released = { by: 'bo', at: BY.at + 1 };
      assert.equal(await ledger.unhold(session, released), true);
      assert.equal(await ledger.unhold(session, released), false);
      assert.deepEqual((await ledger.gc({ ...policy, only: [store.newSession()] })).sessions, []);
      assert.deepEqual((await ledger.gc({ ...policy, only: [session] })).sessions, [session]);
      const holds = await ((await store.reopen()) ?? ledger).holds();
      assert.deepEqual(holds, [{ session, reason: 'a lawsuit', ...BY, released }]);
    },
  },
  {
    name: 'takes from a fork what only it and its source have, once both are forgotten',
    check: async (open) => {
      const store = await open();
      const [one, other] = [await ended(store, 'a', 'what both know'), await ended(store, 'b', 'what both know')];
      const { ledger } = one;
      const [, event] = await ledger.read({ session: one.session });
      assert.ok(event);
      await ledger.forget(whole(one.session));
      assert.ok((await ledger.payload(event.payload_ref)) !== undefined);
      await ledger.forget(whole(other.session));
      assert.equal(await ledger.payload(event.payload_ref), undefined);
      assert.equal((await ledger.verify()).kind, 'sound');
    },
  },
];
