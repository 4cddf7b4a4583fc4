/** What `troupe ps` finds out, from a real ledger in which runs are started and ended by hand. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  client,
  got,
  openFamily,
  quietly,
  reading,
  type TestFamily,
  type TestProcess,
  writing,
} from '../../test/support/assistants/family.ts';
import { openTestLedger, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../base/clock.ts';
import { type SessionId, threadOf } from '../base/ids.ts';
import { userText } from '../events/messages.ts';
import type { Ledger, NewEvent } from '../ledger/port.ts';
import { type PsRow, readPsRows } from './run-rows.ts';

const opened: TestFamily[] = [];
afterEach(async () => {
  for (const family of opened.splice(0)) await family.ledger.close();
});

function openedFamily(): TestFamily {
  const family = openFamily();
  opened.push(family);
  return family;
}

const NOW = systemClock.now() + 60_000;
const list = (ledger: Ledger, more: { all?: boolean; limit?: number } = {}): Promise<readonly PsRow[]> =>
  readPsRows(ledger, { all: false, limit: 20, now: NOW, ...more });

/** A model call of this price. */
async function spend(family: TestFamily, process: TestProcess, nanoUsd: number | undefined): Promise<void> {
  await family.write(process, {
    type: 'model.response',
    step: 'turn/1/model',
    payload: {
      turn: 1,
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hm.' }] },
      finish: 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
      requested: 'test/model',
      served: 'test/model',
      attempts: 1,
      durationMs: 1,
      ...(nanoUsd === undefined ? {} : { cost: { nanoUsd, prices: 'test' } }),
    },
  });
}

/** One more root run in the session, from its start to its end. */
async function runOnce(ledger: Ledger, session: SessionId): Promise<void> {
  const run = testIds.run();
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  const [before] = await ledger.read({ session, limit: 1 });
  const common = { run, actor: 'system', cause: before?.event_id ?? null, at: systemClock.now() } as const;
  const started: NewEvent = {
    ...common,
    type: 'run.started',
    payload: { agent: 'one', input: userText('Go.'), origin: { kind: 'person' }, depth: 0 },
  };
  const report = { format: 'text', body: 'done' } as const;
  const payload = { status: 'completed', report, finalAgent: 'one', verification: { state: 'unchecked' } } as const;
  const ended: NewEvent = { ...common, cause: started, type: 'run.ended', payload };
  expect(await ledger.append({ session, fence: lease.fence, events: [started, ended] })).toMatchObject({ kind: 'appended' });
  await ledger.release(lease.fence);
}

describe('the processes of a ledger', () => {
  it('stand below their root, with the process that hosts each and what all of it cost', async () => {
    const family = openedFamily();
    const lead = await family.root('lead');
    const scout = await family.child(lead, 'scout');
    const reader = await family.child(scout, 'reader');
    const called = await family.child(lead, 'called', false);
    await family.write(scout, { type: 'process.started', payload: { pid: 4711, attempt: 1 } });
    await spend(family, lead, 1_000);
    await spend(family, reader, 500);
    await spend(family, called, undefined);
    await family.end(reader, 'failed');
    const rows = await list(family.ledger);
    expect(rows.map(({ agent, depth, state, pid }) => [agent, depth, state, pid])).toEqual([
      ['lead', 0, 'running', process.pid],
      ['scout', 1, 'running', 4711],
      ['reader', 2, 'failed', null],
    ]);
    expect(rows.map(({ cost }) => cost)).toEqual([
      { nanoUsd: 1_500, unknownCalls: 1 },
      { nanoUsd: 500, unknownCalls: 0 },
      { nanoUsd: 500, unknownCalls: 0 },
    ]);
    expect(rows.map(({ process }) => process)).toMatchObject([
      null,
      { thread: threadOf(scout.run), spawnedBy: 'lead', status: 'running', exitCode: null },
      { thread: threadOf(reader.run), spawnedBy: 'scout', status: 'failed', exitCode: 1 },
    ]);
    expect((await list(family.ledger, { all: true })).map(({ agent }) => agent)).toEqual(['lead', 'scout', 'reader', 'called']);
  });

  it('name the command that fits what each waits for', async () => {
    const family = openedFamily();
    const careful = await family.root('careful');
    const unsure = await family.root('unsure');
    const permission = { wait: 'w', tool: 'shell', input: {}, why: 'careful wants to use shell' };
    await family.write(careful, { type: 'approval.asked', step: 'w', payload: permission });
    const many = await family.root('many');
    const long = await family.root('long');
    for (const wait of ['v', 'w'])
      await family.write(many, { type: 'approval.asked', step: wait, payload: { ...permission, wait } });
    const unseen = { ...permission, input: { command: 'x'.repeat(200_000) } };
    await family.write(long, { type: 'approval.asked', step: 'w', payload: unseen });
    await family.write(unsure, { type: 'task.clarify', step: 'w', payload: { wait: 'w', question: 'Which?' } });
    const next = Object.fromEntries((await list(family.ledger)).map((row) => [row.agent, row.next]));
    expect(next).toEqual({
      careful: `troupe approve ${careful.run.slice(-6)}`,
      unsure: `troupe answer ${unsure.run.slice(-6)} "…"`,
      // Neither could be answered by a command that does not say which, or that all of it was seen.
      many: `troupe show ${many.run.slice(-6)}`,
      long: `troupe show ${long.run.slice(-6)}`,
    });
  });

  it('wait for their provider together with those that they stand still for', async () => {
    const family = openedFamily();
    const lead = await family.root('lead');
    const [first, second] = [await family.child(lead, 'first', false), await family.child(lead, 'second', false)];
    const spawned = await family.child(lead, 'spawned');
    const fails = (process: TestProcess, nextInMs: number): Promise<unknown> =>
      family.write(process, {
        type: 'model.failed',
        payload: {
          turn: 1,
          model: 'test/model',
          attempt: 1,
          error: { kind: 'overloaded', message: 'busy' },
          final: false,
          nextInMs,
        },
      });
    const attempts = async () =>
      Object.fromEntries((await list(family.ledger, { all: true })).map(({ agent, nextAttemptAt }) => [agent, nextAttemptAt]));
    await fails(second, 50_000);
    // The first is at work, and who was spawned is nobody that it stands still for.
    expect(await attempts()).toEqual({ lead: null, first: null, second: expect.any(Number), spawned: null });
    await fails(first, 20_000);
    const both = await attempts();
    expect(both).toMatchObject({ lead: both['first'], spawned: null });
    expect((await list(family.ledger))[0]).toMatchObject({ agent: 'lead', state: 'running', nextAttemptAt: both['first'] });
    await family.end(first);
    expect(await attempts()).toMatchObject({ lead: both['second'], first: null });
    await fails(spawned, 1_000);
    expect(await attempts()).toMatchObject({ lead: both['second'] });
  });

  it('say of what is missing in an answer how it is done again', async () => {
    const family = openedFamily();
    const lead = await family.root('lead');
    const called = await family.child(lead, 'called', false);
    await family.end(called, 'failed');
    const nextOf = async () => (await list(family.ledger, { all: true })).map(({ next }) => next);
    // Its caller may yet do something about it.
    expect(await nextOf()).toEqual([null, null]);
    await family.end(lead);
    expect(await nextOf()).toEqual([null, `troupe retry ${called.run.slice(-6)}`]);
  });

  it('say what each has not read, and since when', async () => {
    const family = openedFamily();
    const lead = await family.root('lead', 'ann');
    const scout = await family.child(lead, 'scout');
    const send = (by: TestProcess, to: string, text: string) =>
      got(family.service.send(by.caller, writing(scout, to, text), quietly));
    await send(lead, 'scout', 'first');
    await send(lead, 'scout', 'second');
    await send(scout, 'lead', 'a question');
    await got(family.service.send(lead.caller, writing(lead, 'ann', 'for my client'), quietly));
    const [top, below] = await list(family.ledger);
    expect(top).toMatchObject({ agent: 'lead', unread: 1, process: { spawnedBy: 'ann', messages: 1, unreadByParent: 1 } });
    expect(below).toMatchObject({ agent: 'scout', unread: 2, process: { messages: 3, unreadByParent: 1, status: 'starting' } });
    expect(below?.lagMs).toBe(NOW - (below?.oldestUnreadAt ?? 0));
    expect(below?.lagMs).toBeGreaterThan(50_000);
    await family.end(scout);
    // Nobody reads it any more: there is nothing to catch up with.
    expect((await list(family.ledger))[1]).toMatchObject({ unread: 2, lagMs: null });
    await got(family.service.receive(client('ann'), { ...reading(lead), mark_as_read: true }, quietly));
    expect((await list(family.ledger))[0]?.process).toMatchObject({ unreadByParent: 0 });
  });

  it('read no more than the listed runs take, however long their session is', async () => {
    const ledger = openTestLedger({ path: ':memory:' });
    let read = 0;
    const counting: Ledger = {
      ...ledger,
      read: async (query) => {
        const events = await ledger.read(query);
        read += events.length;
        return events;
      },
    };
    const session = testIds.session();
    for (let round = 0; round < 300; round += 1) await runOnce(ledger, session);
    expect(await list(counting, { limit: 3 })).toHaveLength(3);
    expect(read).toBeLessThan(10);
    await ledger.close();
  });

  it('are listed also when their events were collected', async () => {
    const path = `${testFolder()}/ledger.db`;
    const family = openFamily({ path });
    const lead = await family.root('lead', 'ann');
    await family.end(lead);
    await family.ledger.release(lead.fence);
    await family.ledger.gc({ olderThanMs: 0, now: NOW, dryRun: false });
    expect(await list(family.ledger)).toMatchObject([{ agent: 'lead', state: 'completed', cost: null, process: null }]);
    await family.ledger.close();
  });
});
