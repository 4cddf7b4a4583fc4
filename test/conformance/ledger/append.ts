/** Conformance: what an append promises. */
import assert from 'node:assert/strict';
import type { Append } from '../../../src/ledger/port.ts';
import { appendOrFail, type ConformanceCheck, givenRun, note, noteText, positions, upTo } from './support.ts';

export const appendChecks: readonly ConformanceCheck[] = [
  {
    name: 'reads back exactly what an append returned',
    check: async (open) => {
      const writer = await givenRun(await open());
      const appended = await appendOrFail(writer, [
        note(writer, 'one'),
        { ...note(writer, 'two'), tool: 'read', step: 'turn/1' },
      ]);
      assert.deepEqual(await writer.ledger.read({ session: writer.session, after: 1 }), appended);
      assert.equal(appended[0]?.event_id, `${writer.session}.2`);
    },
  },
  {
    name: 'gives gap-free positions to many writers',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      await Promise.all(upTo(200).map((index) => appendOrFail(writer, [note(writer, `a ${index}`), note(writer, `b ${index}`)])));
      const events = await writer.ledger.read({ session: writer.session });
      assert.deepEqual(positions(events), upTo(401));
      const texts = events.slice(1).map(noteText);
      for (let index = 0; index < texts.length; index += 2) assert.equal(texts[index]?.slice(2), texts[index + 1]?.slice(2));
    },
  },
  {
    name: 'keeps the order of appends of one turn, each with its own outcome',
    check: async (open) => {
      const writer = await givenRun(await open());
      const stale = { ...writer.fence, epoch: writer.fence.epoch + 7 };
      const outcomes = await Promise.all([
        writer.ledger.append(writer.request([note(writer, 'first')])),
        writer.ledger.append({ ...writer.request([note(writer, 'stale')]), fence: stale }),
        writer.ledger.append({ ...writer.request([note(writer, 'dear')]), counters: [{ name: 'usd', add: 5, max: 4 }] }),
        writer.ledger.append(writer.request([note(writer, 'last')])),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['appended', 'lease_lost', 'over_limit', 'appended'],
      );
      const events = await writer.ledger.read({ session: writer.session, after: 1 });
      assert.deepEqual(events.map(noteText), ['first', 'last']);
    },
  },
  {
    name: 'accepts as a cause an event whose append is still under way',
    check: async (open) => {
      const writer = await givenRun(await open());
      const first = note(writer, 'first');
      const second = { ...note(writer, 'second'), cause: first };
      const third = { ...note(writer, 'third'), cause: second };
      await Promise.all([appendOrFail(writer, [first]), appendOrFail(writer, [second, third])]);
      const events = await writer.ledger.read({ session: writer.session, after: 2 });
      assert.deepEqual(
        events.map((event) => event.parent_event_id),
        [`${writer.session}.2`, `${writer.session}.3`],
      );
    },
  },
  {
    name: 'refuses events without a parent in their session, and writes nothing of them',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const other = await givenRun(store);
      const refused = (events: Append['events']): Promise<void> =>
        assert.rejects(writer.ledger.append(writer.request(events)), { code: 'ledger_bad_append' });
      await refused([note(writer, 'fine'), { ...note(writer, 'none'), cause: null }]);
      await refused([{ ...note(writer, 'later'), cause: writer.eventAt(99) }]);
      await refused([{ ...note(writer, 'elsewhere'), cause: other.eventAt(1) }]);
      await refused([{ ...note(writer, 'never written'), cause: note(writer, 'lost') }]);
      assert.equal((await writer.ledger.read({ session: writer.session })).length, 1);
      const fresh = store.newRun();
      await assert.rejects(writer.ledger.append(writer.request([{ ...note(other, 'not mine'), run: other.run }])), {
        code: 'ledger_bad_append',
      });
      await appendOrFail(writer, [{ ...note(writer, 'a child'), run: fresh }]);
    },
  },
  {
    name: 'refuses what is said to a run that has ended, and takes it before',
    check: async (open) => {
      const writer = await givenRun(await open());
      const signal = { ...note(writer, ''), type: 'run.signalled', payload: { signal: 'cancel' } } as const;
      const say = () => writer.ledger.append({ session: writer.session, fence: null, events: [signal], unended: writer.run });
      assert.equal((await say()).kind, 'appended');
      // In one transaction, in the order they were asked.
      const outcomes = await Promise.all([say(), writer.ledger.append(writer.request([writer.ending()])), say()]);
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        ['appended', 'appended', 'ended'],
      );
      assert.deepEqual(await say(), { kind: 'ended', run: writer.run });
      assert.equal((await writer.ledger.read({ session: writer.session })).at(-1)?.event_type, 'run.ended');
    },
  },
  {
    name: 'refuses to end a run that has not heard everything, and keeps its lease; else gives it back with the end',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const signal = { ...note(writer, ''), type: 'run.signalled', payload: { signal: 'cancel' } } as const;
      const outside = () => writer.ledger.append({ session: writer.session, fence: null, events: [signal] });
      const end = (heard: number) => writer.ledger.append({ ...writer.request([writer.ending()]), heard, release: true });
      const owner = async () => (await writer.ledger.runs({ run: writer.run }))[0]?.owner ?? null;
      await outside();
      const [, refused] = await Promise.all([outside(), end(2)]);
      assert.deepEqual(refused, { kind: 'unheard', inbound: 3 });
      assert.notEqual(await owner(), null);
      // What the run writes itself, and what others say in other sessions, is nothing to hear.
      await appendOrFail(writer, [note(writer, 'mine')]);
      const other = await givenRun(store);
      const elsewhere = { ...signal, run: other.run, cause: other.eventAt(1) };
      await other.ledger.append({ session: other.session, fence: null, events: [elsewhere] });
      assert.equal((await end(3)).kind, 'appended');
      assert.equal(await owner(), null);
      assert.equal((await writer.ledger.append(writer.request([note(writer, 'late')]))).kind, 'lease_lost');
    },
  },
  {
    name: 'without a fence takes only answers and signals, for runs that exist',
    check: async (open) => {
      const store = await open();
      const writer = await givenRun(store);
      const outside = (events: Append['events']) => writer.ledger.append({ session: writer.session, fence: null, events });
      await assert.rejects(outside([note(writer, 'forged')]), { code: 'ledger_bad_append' });
      const signal = { ...note(writer, ''), type: 'run.signalled', payload: { signal: 'cancel' } } as const;
      await assert.rejects(outside([{ ...signal, run: store.newRun() }]), { code: 'ledger_bad_append' });
      assert.equal((await outside([signal])).kind, 'appended');
    },
  },
];
