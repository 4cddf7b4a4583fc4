/** Conformance: reading, tailing and being called. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/base/limits.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import type { FeedEntry, Ledger } from '../../../src/ledger/port.ts';
import {
  appendOrFail,
  type ConformanceCheck,
  givenRun,
  note,
  opening,
  positions,
  upTo,
  type Writer,
  writeNotes,
} from './support.ts';

async function take(events: AsyncIterable<LedgerEvent>, count: number, stop: AbortController): Promise<LedgerEvent[]> {
  const taken: LedgerEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  stop.abort();
  return taken;
}

export const readChecks: readonly ConformanceCheck[] = [
  {
    name: 'reads pages, one run and some types',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const child = store.newRun();
      await appendOrFail(writer, [
        note(writer, 'a'),
        { ...note(writer, 'b'), run: child },
        { ...opening(writer), cause: writer.eventAt(1) },
      ]);
      const read = async (query: object) => positions(await writer.ledger.read({ session: writer.session, ...query }));
      assert.deepEqual(await read({ limit: 2 }), [1, 2]);
      assert.deepEqual(await read({ after: 2, limit: 1 }), [3]);
      assert.deepEqual(await read({ run: child }), [3]);
      assert.deepEqual(await read({ types: ['run.started'] }), [1, 4]);
      assert.deepEqual(await read({ types: ['run.started'], run: writer.run, after: 1 }), [4]);
      assert.deepEqual(await writer.ledger.read({ session: store.newSession() }), []);
      assert.deepEqual(await read({ newest: true, limit: 2 }), [4, 3]);
      assert.deepEqual(await read({ newest: true, run: writer.run, types: ['run.started'], limit: 1 }), [4]);
      assert.deepEqual(await read({ newest: true, types: ['run.started', 'step.recorded'], after: 1 }), [4, 3, 2]);
      const both = { newest: true, run: writer.run, types: ['step.recorded', 'run.started'] };
      assert.deepEqual(await read(both), [4, 2, 1]);
      assert.deepEqual(await read({ ...both, limit: 2 }), [4, 2]);
      assert.deepEqual(await read({ ...both, after: 1 }), [4, 2]);
      assert.deepEqual(await read({ root: writer.run }), [1, 2, 3, 4]);
      assert.deepEqual(await read({ root: writer.run, after: 2, limit: 1 }), [3]);
      assert.deepEqual(await read({ root: writer.run, types: ['step.recorded', 'run.ended'] }), [2, 3]);
      assert.deepEqual(await read({ root: child }), []);
    },
  },
  {
    name: 'has one order over all sessions, which stays, also for whoever opens it again',
    check: async (open) => {
      const store = await open();
      const { ledger } = store;
      const [one, two] = [await givenRun(store), await givenRun(store)];
      await writeNotes(one, 2);
      await Promise.all([writeNotes(two, 3), writeNotes(one, 3)]);
      const read = async (from: Ledger): Promise<readonly FeedEntry[]> => {
        const all: FeedEntry[] = [];
        for (let pages = 0; pages < 100; pages += 1) {
          const { entries, pending } = await from.feed({ after: all.at(-1)?.place, limit: 3 });
          all.push(...entries);
          if (entries.length === 0 && !pending) break;
        }
        return all;
      };
      const all = await read(ledger);
      for (const { session } of [one, two]) {
        const own = all.filter((entry) => entry.session === session);
        const events = await ledger.read({ session });
        assert.deepEqual(
          own.map(({ position, type }) => [position, type]),
          events.map(({ position, event_type }) => [position, event_type]),
        );
      }
      assert.equal(all.length, 10);
      assert.equal(new Set(all.map(({ place }) => place)).size, 10);
      const newest = await ledger.feed({ newest: true, limit: 2 });
      assert.deepEqual(newest.entries, [all[9], all[8]]);
      const from = await ledger.feed({ after: all[4]?.place, inclusive: true, limit: 1 });
      assert.deepEqual(from.entries, [all[4]]);
      for (const after of ['x', '-1', '1.5', '1-2-3']) assert.deepEqual((await ledger.feed({ after, limit: 1 })).entries, []);
      await writeNotes(two, 1);
      assert.deepEqual((await read(ledger)).slice(0, 10), all);
      const again = await store.reopen();
      if (again !== undefined) assert.deepEqual((await read(again)).slice(0, 10), all);
    },
  },
  {
    name: 'tails from any position, over more than a page, without loss or repeats',
    check: async (open) => {
      const writer = await givenRun(await open());
      const before = limits.readPageEvents + 50;
      await appendOrFail(
        writer,
        upTo(before).map((index) => note(writer, `old ${index}`)),
      );
      for (const after of [0, 7, before + 1]) {
        const stop = new AbortController();
        const head = (await writer.ledger.read({ session: writer.session, after: before, limit: 500 })).at(-1)?.position ?? 0;
        const tailing = take(writer.ledger.tail(writer.session, after, stop.signal), head + 20 - after, stop);
        await writeNotes(writer, 20, `after ${after}`);
        assert.deepEqual(positions(await tailing), upTo(head + 20).slice(after));
      }
    },
  },
  {
    name: 'tails what another process appends',
    check: async (open) => {
      const store = await open();
      const other = await store.another();
      if (other === undefined) return;
      const writer = await givenRun(store);
      const stop = new AbortController();
      const tailing = take(other.tail(writer.session, 0, stop.signal), 31, stop);
      await writeNotes(writer, 30);
      assert.deepEqual(positions(await tailing), upTo(31));
    },
  },
  {
    name: 'ends a tail when its signal aborts or the ledger closes',
    check: async (open) => {
      const writer = await givenRun(await open());
      const stop = new AbortController();
      const aborted = take(writer.ledger.tail(writer.session, 1, stop.signal), 1, new AbortController());
      const closed = take(writer.ledger.tail(writer.session, 1, new AbortController().signal), 1, new AbortController());
      stop.abort();
      assert.deepEqual(await aborted, []);
      await writer.ledger.close();
      assert.deepEqual(await closed, []);
    },
  },
  {
    name: 'says when there is news, in one session and in any, also from another process',
    check: async (open) => {
      const store = await open();
      const [writer, other] = [await givenRun(store), await givenRun(store)];
      for (const ledger of [store.ledger, (await store.another()) ?? store.ledger]) {
        const heard = (session: Writer['session'] | undefined) =>
          new Promise<void>((resolve) => {
            const stop = ledger.onNews(session, () => {
              stop();
              resolve();
            });
          });
        const told = Promise.all([heard(writer.session), heard(undefined)]);
        await writeNotes(writer, 1);
        await told;
        const ofOthers = heard(undefined);
        await writeNotes(other, 1);
        await ofOthers;
      }
    },
  },
  {
    name: 'calls back for inbound events only, also from another process',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const sender = (await store.another()) ?? store.ledger;
      const signal = { ...note(writer, ''), type: 'run.signalled', payload: { signal: 'pause' } } as const;
      let early = true;
      const called = new Promise<boolean>((resolve) => {
        const stop = writer.ledger.onInbound(writer.session, () => {
          stop();
          resolve(early);
        });
      });
      await writeNotes(writer, 3);
      early = false;
      assert.equal(await writer.ledger.lastInbound(writer.session), 0);
      await sender.append({ session: writer.session, fence: null, events: [signal] });
      assert.equal(await called, false);
      const [newest] = await writer.ledger.read({ session: writer.session, newest: true, limit: 1 });
      assert.equal(await writer.ledger.lastInbound(writer.session), newest?.position);
      assert.equal(await writer.ledger.lastInbound(store.newSession()), 0);
    },
  },
];
