/** Conformance: who may write, how much, and what is known of the runs. */
import assert from 'node:assert/strict';
import type { RunId } from '../../../src/base/ids.ts';
import type { Append, Ledger, NewEvent, RunFilter } from '../../../src/ledger/port.ts';
import { appendOrFail, type ConformanceCheck, givenRun, note, opening, upTo, type Writer } from './support.ts';

function childOf(writer: Writer, parent: RunId, child: RunId): NewEvent {
  const started = opening(writer);
  return {
    ...started,
    run: child,
    cause: writer.eventAt(1),
    payload: { ...started.payload, origin: { kind: 'pattern', parent, role: 'child' } },
  };
}

export const leaseChecks: readonly ConformanceCheck[] = [
  {
    name: 'lets one owner write for a run, until it gives the lease back',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = (await store.another()) ?? store.ledger;
      assert.equal((await other.acquire(writer.session, writer.run)).kind, 'held');
      assert.equal((await writer.ledger.acquire(writer.session, writer.run)).kind, 'held');
      await writer.ledger.release(writer.fence);
      assert.equal((await writer.ledger.append(writer.request([note(writer, 'late')]))).kind, 'lease_lost');
      const again = await other.acquire(writer.session, writer.run);
      assert.ok(again.kind === 'acquired' && !again.takenOver && again.fence.epoch > writer.fence.epoch && !again.fresh);
      assert.equal((await writer.ledger.append(writer.request([note(writer, 'stale')]))).kind, 'lease_lost');
      assert.equal((await other.append({ ...writer.request([note(writer, 'mine')]), fence: again.fence })).kind, 'appended');
    },
  },
  {
    name: 'has one root run per session at a time',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const next = store.newRun();
      const busy = await writer.ledger.acquire(writer.session, next);
      assert.ok(busy.kind === 'busy_session' && busy.run === writer.run && busy.owner.pid === process.pid);
      await writer.ledger.release(writer.fence);
      const unfinished = await writer.ledger.acquire(writer.session, next);
      assert.ok(unfinished.kind === 'busy_session' && unfinished.owner.id === 'none');
      const back = await writer.ledger.acquire(writer.session, writer.run);
      assert.ok(back.kind === 'acquired');
      await writer.ledger.append({ ...writer.request([writer.ending()]), fence: back.fence });
      await writer.ledger.release(back.fence);
      const second = await writer.ledger.acquire(writer.session, next);
      assert.ok(second.kind === 'acquired' && !second.fresh, 'its session has begun');
    },
  },
  {
    name: 'gives a lease to whom it is assigned, also of a child run, and fences the owner before',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = (await store.another()) ?? store.ledger;
      const child = store.newRun();
      await appendOrFail(writer, [{ ...opening(writer), run: child, cause: writer.eventAt(1) }]);
      await assert.rejects(other.acquire(writer.session, child), { code: 'ledger_bad_append' });
      const own = await other.acquire(writer.session, child, { assigned: true });
      assert.ok(own.kind === 'acquired' && !own.takenOver);
      const below = store.newRun();
      const byChild = { ...writer.request([{ ...opening(writer), run: below, cause: writer.eventAt(2) }]), fence: own.fence };
      assert.equal((await other.append(byChild)).kind, 'appended');
      assert.equal(
        (await writer.ledger.append(writer.request([{ ...note(writer, 'of the tree'), run: below }]))).kind,
        'appended',
      );
      const again = await writer.ledger.acquire(writer.session, writer.run, { assigned: true });
      assert.ok(again.kind === 'acquired' && again.takenOver && again.fence.epoch > writer.fence.epoch);
      assert.equal((await writer.ledger.append(writer.request([note(writer, 'stale')]))).kind, 'lease_lost');
      await other.release(own.fence);
      const owners = (await store.ledger.runs({ session: writer.session })).map((row) => [row.run, row.owner === null]);
      assert.deepEqual(owners, [
        [below, false],
        [child, true],
        [writer.run, false],
      ]);
      assert.equal((await store.ledger.runs({ run: child })).length, 1);
      assert.equal((await store.ledger.runs({ run: child, session: store.newSession() })).length, 0);
    },
  },
  {
    name: 'gives an assigned lease whoever holds it, and fences the holder off',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = (await store.another()) ?? store.ledger;
      const assigned = await other.acquire(writer.session, writer.run, { assigned: true });
      assert.ok(assigned.kind === 'acquired' && assigned.takenOver && assigned.fence.epoch > writer.fence.epoch);
      assert.equal((await writer.ledger.append(writer.request([note(writer, 'zombie')]))).kind, 'lease_lost');
      await writer.ledger.release(writer.fence);
      const mine = { ...writer.request([note(writer, 'mine')]), fence: assigned.fence };
      assert.equal((await other.append(mine)).kind, 'appended');
      await other.release(assigned.fence);
      const next = await writer.ledger.acquire(writer.session, writer.run, { assigned: true });
      assert.ok(next.kind === 'acquired' && !next.takenOver);
      assert.equal((await other.append(mine)).kind, 'lease_lost');
    },
  },
  {
    name: 'lets a child run have an assigned lease of its own, which covers the same tree',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = (await store.another()) ?? store.ledger;
      const [child, grandchild, stranger] = [store.newRun(), store.newRun(), await givenRun(store)];
      await appendOrFail(writer, [childOf(writer, writer.run, child)]);
      await assert.rejects(() => other.acquire(writer.session, child), /child run/);
      const lease = await other.acquire(writer.session, child, { assigned: true });
      assert.ok(lease.kind === 'acquired' && !lease.takenOver);
      const below = { ...writer.request([childOf(writer, child, grandchild)]), fence: lease.fence };
      assert.equal((await other.append(below)).kind, 'appended');
      // Of the same tree from the root, too: that the parent is told something, or that a child of its own is.
      assert.equal((await other.append({ ...below, events: [note(writer, 'to the parent')] })).kind, 'appended');
      await appendOrFail(writer, [{ ...note(writer, 'to the grandchild'), run: grandchild }]);
      const foreign = { ...below, events: [{ ...note(writer, 'x'), run: stranger.run }] };
      await assert.rejects(() => other.append(foreign), /belongs to another session/);
      const ownersOf = async () =>
        new Map((await store.ledger.runs({ session: writer.session })).map(({ run, owner }) => [run, owner]));
      assert.deepEqual(
        [...(await ownersOf()).values()].map((owner) => owner?.pid),
        [process.pid, process.pid, process.pid],
      );
      assert.deepEqual((await ownersOf()).get(grandchild), (await ownersOf()).get(writer.run));
      await other.release(lease.fence);
      const owners = await ownersOf();
      assert.equal(owners.get(child), null);
      assert.equal(owners.get(writer.run)?.pid, process.pid);
      assert.equal((await other.append(below)).kind, 'lease_lost');
      await appendOrFail(writer, [note(writer, 'the root writes on')]);
    },
  },
  {
    name: 'changes counters with the events that explain them, and never past their limit',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const ledgers = [store.ledger, (await store.another()) ?? store.ledger];
      const spend = (ledger: Ledger) =>
        ledger.append({ ...writer.request([note(writer, 'spend')]), counters: [{ name: 'calls', add: 3, max: 100 }] });
      const outcomes = await Promise.all(upTo(60).map((index) => spend(ledgers[index % 2] ?? store.ledger)));
      assert.equal(outcomes.filter((outcome) => outcome.kind === 'appended').length, 33);
      assert.equal(await store.ledger.counter('calls'), 99);
      assert.equal((await store.ledger.read({ session: writer.session })).length, 34);
      await store.ledger.append({ ...writer.request([]), counters: [{ name: 'calls', add: -9, max: 10 }] });
      assert.equal(await store.ledger.counter('calls'), 90);
      const whole = await store.ledger.append({
        ...writer.request([]),
        counters: [
          { name: 'fresh', add: 1 },
          { name: 'calls', add: 6, max: 100 },
          { name: 'calls', add: 6, max: 100 },
        ],
      });
      assert.deepEqual(whole, { kind: 'over_limit', counter: 'calls', value: 96, add: 6, max: 100 });
      assert.equal(await store.ledger.counter('fresh'), 0);
    },
  },
  {
    name: 'sets a counter right once, however many rebuild at the same time',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const ledgers = [store.ledger, (await store.another()) ?? store.ledger, (await store.another()) ?? store.ledger];
      const spend = (add: number) =>
        store.ledger.append({ ...writer.request([]), counters: [{ name: `budget/${writer.run}/calls`, add }] });
      // No event explains these.
      await spend(5);
      assert.equal((await store.ledger.verify()).kind, 'drifted');
      await Promise.all(ledgers.map((ledger) => ledger.rebuild()));
      assert.equal(await store.ledger.counter(`budget/${writer.run}/calls`), 0);
      assert.equal((await store.ledger.verify()).kind, 'sound');
    },
  },
  {
    name: 'keeps the list of runs in step with their events',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const child = store.newRun();
      await appendOrFail(writer, [childOf(writer, writer.run, child)]);
      const rows = await writer.ledger.runs({ session: writer.session });
      assert.deepEqual(
        rows.map(({ run, parent, state }) => ({ run, parent, state })),
        [
          { run: child, parent: writer.run, state: 'running' },
          { run: writer.run, parent: null, state: 'running' },
        ],
      );
      assert.equal(rows[0]?.owner?.pid, process.pid);
      const asked = {
        ...note(writer, ''),
        type: 'approval.asked',
        payload: { wait: 'w', tool: 't', input: {}, why: '' },
      } as const;
      const paused = { ...note(writer, ''), type: 'run.paused', payload: { reason: '' } } as const;
      const stateAfter = async (events: Append['events']) => {
        await appendOrFail(writer, events);
        return (await writer.ledger.runs({ session: writer.session, roots: true }))[0]?.state;
      };
      assert.equal(await stateAfter([asked]), 'waiting');
      assert.equal(
        await stateAfter([{ ...asked, type: 'approval.answered', payload: { wait: 'w', answer: { kind: 'approved' } } }]),
        'running',
      );
      assert.equal(await stateAfter([paused]), 'paused');
      assert.equal(await stateAfter([{ ...paused, type: 'run.resumed', payload: { owner: 'o', takenOver: false } }]), 'running');
      assert.equal(await stateAfter([writer.ending()]), 'completed');
      assert.equal((await writer.ledger.runs({ states: ['completed'] })).length, 1);
    },
  },
  {
    name: 'runs are listed page by page, newest first',
    check: async (open) => {
      const store = await open();
      const writers: Writer[] = [];
      for (let index = 0; index < 5; index += 1) writers.push(await givenRun(store));
      const newest = writers.map(({ run }) => run).toReversed();
      const { ledger } = store;
      const page = async (more: RunFilter) => (await ledger.runs({ roots: true, limit: 2, ...more })).map(({ run }) => run);
      const pages = [await page({})];
      for (let last = pages[0]?.at(-1); last !== undefined; last = pages.at(-1)?.at(-1)) pages.push(await page({ before: last }));
      assert.deepEqual(pages, [newest.slice(0, 2), newest.slice(2, 4), newest.slice(4), []]);
      const [third] = newest.slice(2);
      assert.deepEqual(await page({ before: newest[1] ?? store.newRun(), states: ['running'] }), newest.slice(2, 4));
      assert.deepEqual(await page({ before: newest[1] ?? store.newRun(), states: ['completed'] }), []);
      assert.deepEqual(await page({ before: newest[2] ?? store.newRun(), run: third ?? store.newRun() }), []);
      assert.deepEqual(await page({ before: store.newRun() }), []);
    },
  },
];
