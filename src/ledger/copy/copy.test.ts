/** Copying between stores of both kinds: everything arrives, nothing twice, and what differs is refused. */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, opening, upTo, type Writer } from '../../../test/conformance/ledger/support.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import { testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { type LedgerAddress, parseLedgerAddress } from '../address.ts';
import { openCopyStore, openLedger } from '../open.ts';
import type { Ledger } from '../port.ts';
import { createProtection, type Protection } from '../seals/protection.ts';
import { copyLedger } from './copy.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const ids = testIds;
const clock = systemClock;
let count = 0;
const address = (text: string): LedgerAddress => {
  const parsed = parseLedgerAddress(text, '/');
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const newSqlite = (): LedgerAddress => address(`sqlite:${testFolder()}/ledger.db`);
function newPostgres(): LedgerAddress {
  count += 1;
  return address(`${server.address(`copy_${count}`)}&payloads=${testFolder()}`);
}
const open = (where: LedgerAddress, protection?: Protection): Promise<Ledger> =>
  openLedger(where, { clock, ids, ...present({ protection }) });

async function copy(from: LedgerAddress, to: LedgerAddress, force = false) {
  const source = await openCopyStore(from, { clock, ids, readOnly: true });
  const target = await openCopyStore(to, { clock, ids, readOnly: false });
  try {
    return await copyLedger(source, target, { force });
  } finally {
    await source.close();
    await target.close();
  }
}

/** A ledger with a bit of everything: children, several pages, large payloads, attachments, tombstones, pins, counters. */
async function fill(where: LedgerAddress): Promise<readonly SessionId[]> {
  const ledger = await open(where);
  const store = { ledger, newSession: ids.session, newRun: ids.run };
  const old = await givenRun(store, 'only in the collected one');
  await finish(old);
  await ledger.gc({ olderThanMs: 1000, now: old.at + 5000, dryRun: false });
  const large = await givenRun(store);
  const child = ids.run();
  await appendOrFail(large, [
    {
      ...opening(large),
      run: child,
      cause: large.eventAt(1),
      payload: { ...opening(large).payload, origin: { kind: 'pattern', parent: large.run, role: 'worker' } },
    },
    { ...note(large, 'x'.repeat(limits.payloadInlineBytes)), attachment: 'nul \u0000 and \u00e4' },
    ...upTo(limits.copyPageEvents + 20).map((index) => ({
      ...note(large, `note ${index}`),
      tool: 'read',
      step: `turn/${index}`,
    })),
  ]);
  await ledger.append({ ...large.request([]), counters: [{ name: 'spent', add: 42 }] });
  await finish(large);
  await ledger.pin(large.session, true);
  const waiting = await givenRun(store);
  await ledger.append({
    session: waiting.session,
    fence: null,
    events: [{ ...note(waiting, ''), type: 'run.signalled', payload: { signal: 'pause' } }],
  });
  await ledger.close();
  return [old.session, large.session, waiting.session];
}

async function finish(writer: Writer): Promise<void> {
  await appendOrFail(writer, [writer.ending()]);
  await writer.ledger.release(writer.fence);
}

/** All that can be seen of a ledger through the port. */
async function contents(where: LedgerAddress, sessions: readonly SessionId[]) {
  const ledger = await open(where);
  const seen = [];
  for (const session of sessions.slice(1)) {
    const events = [
      ...(await ledger.read({ session, limit: limits.readPageEvents })),
      ...(await ledger.runs({ session })).map((run) => ({ ...run })),
    ];
    seen.push(events);
  }
  const stats = await ledger.stats();
  const result = {
    seen,
    spent: await ledger.counter('spent'),
    collected: await ledger.read({ session: sessions[0] as SessionId }).catch((error: { code: string }) => error.code),
    verified: await ledger.verify(),
    stats: { ...stats, databaseBytes: 0 },
    planned: await ledger.gc({ olderThanMs: 0, now: 2_000_000_000_000, dryRun: true }),
  };
  await ledger.close();
  return result;
}

it.each([
  ['a file to Postgres and back', newSqlite, newPostgres, newSqlite],
  ['Postgres to a file and back', newPostgres, newSqlite, newPostgres],
])('ledger copy copies %s, and the chains verify', async (_name, first, second, third) => {
  const [from, over, to] = [first(), second(), third()];
  const sessions = await fill(from);
  const before = await contents(from, sessions);
  expect(before.verified).toMatchObject({ kind: 'sound', sessions: 3, tombstones: 1 });
  const report = await copy(from, over);
  expect(report).toMatchObject({ sessions: 3, counters: 1 });
  expect(report.events).toBe(before.stats.events);
  expect(await contents(over, sessions)).toEqual(before);
  await copy(over, to);
  expect(await contents(to, sessions)).toEqual(before);
  expect(await copy(over, to)).toMatchObject({ events: 0, payloads: 0 });
});

it('goes on where a copy stopped, and takes what came since', async () => {
  const [from, to] = [newSqlite(), newPostgres()];
  const ledger = await open(from);
  const writer = await givenRun({ ledger, newSession: ids.session, newRun: ids.run });
  await appendOrFail(
    writer,
    upTo(700).map((index) => note(writer, `note ${index}`)),
  );
  await ledger.close();
  const source = await openCopyStore(from, { clock, ids, readOnly: true });
  const target = await openCopyStore(to, { clock, ids, readOnly: false });
  let pages = 0;
  const failing = {
    ...target,
    writeEvents: async (...page: Parameters<typeof target.writeEvents>) => {
      pages += 1;
      if (pages === 2) throw new Error('cut off');
      await target.writeEvents(...page);
    },
  };
  await expect(copyLedger(source, failing, { force: false })).rejects.toThrow('cut off');
  const half = await open(to);
  const sealed = { table: 'session', column: 'sealed', found: limits.copyPageEvents };
  expect(await half.verify()).toMatchObject({ kind: 'drifted', rows: [sealed] });
  await half.close();
  expect(await copyLedger(source, target, { force: false })).toMatchObject({ events: 201 });
  await source.close();
  await target.close();
  const again = await open(from);
  const lease = await again.acquire(writer.session, writer.run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  await again.append({ ...writer.request([writer.ending()]), fence: lease.fence });
  await again.close();
  expect(await copy(from, to)).toMatchObject({ events: 1 });
  const whole = await open(to);
  expect(await whole.verify()).toMatchObject({ kind: 'sound', events: 702 });
  expect((await whole.runs({ session: writer.session }))[0]).toMatchObject({ state: 'completed' });
  await whole.close();
});

it.each([
  ['Postgres', newPostgres],
  ['a file', newSqlite],
])('refuses sessions that somebody works on in %s, unless forced', async (_name, make) => {
  const [from, to] = [make(), newPostgres()];
  const ledger = await open(from);
  const writer = await givenRun({ ledger, newSession: ids.session, newRun: ids.run });
  await expect(copy(from, to)).rejects.toMatchObject({ code: 'copy_busy', fix: expect.stringContaining('--force') });
  expect(await copy(from, to, true)).toMatchObject({ events: 1 });
  await appendOrFail(writer, [note(writer, 'more')]);
  await ledger.close();
  expect(await copy(from, to)).toMatchObject({ events: 1 });
});

it.each([
  ['Postgres', newSqlite, newPostgres],
  ['a file', newPostgres, newSqlite],
])('takes what is sealed along to %s, where only the key opens it', async (_name, from, to) => {
  const [source, target] = [from(), to()];
  const protection = createProtection([{ name: 'DB_PASS', value: 'Xk29-vbTq' }]);
  const ledger = await open(source, protection);
  const writer = await givenRun({ ledger, newSession: ids.session, newRun: ids.run });
  await appendOrFail(writer, [note(writer, 'is Xk29-vbTq')]);
  await finish(writer);
  await ledger.close();
  await copy(source, target);
  const read = async (opened: Promise<Ledger>) => {
    const copied = await opened;
    const [event] = await copied.read({ session: writer.session, after: 1, exact: true });
    expect(await copied.verify()).toMatchObject({ kind: 'sound' });
    await copied.close();
    return event;
  };
  expect(await read(open(target, protection))).toMatchObject({ payload: { value: 'is Xk29-vbTq' } });
  expect(await read(open(target))).toMatchObject({
    payload: { value: 'is [redacted:DB_PASS]' },
    inexact: expect.stringContaining('not on this machine'),
  });
});

it('refuses a target that has gone on by itself', async () => {
  const [from, to] = [newPostgres(), newSqlite()];
  const sessions = await fill(from);
  await copy(from, to);
  const session = sessions[2] as SessionId;
  for (const [where, text] of [
    [from, 'here'],
    [to, 'there'],
  ] as const) {
    const ledger = await open(where);
    const [row] = await ledger.runs({ session });
    if (row === undefined) throw new Error('no run');
    const cause = `${session}.1` as never;
    const payload = { signal: 'pause', reason: text } as const;
    const events = [{ type: 'run.signalled', run: row.run, actor: 'user', cause, at: 5, payload }] as const;
    await ledger.append({ session, fence: null, events });
    await ledger.close();
  }
  await expect(copy(from, to)).rejects.toMatchObject({ code: 'copy_differs' });
});

it('ledger copy refuses a source that was tampered with', async () => {
  const [from, to] = [newSqlite(), newPostgres()];
  await fill(from);
  const database = new DatabaseSync(from.location());
  database.exec("UPDATE event SET actor = 'user' WHERE position = 7");
  database.close();
  await expect(copy(from, to)).rejects.toMatchObject({
    code: 'copy_broken',
    message: expect.stringMatching(/\.7: its envelope/),
  });
});
