/** What the Postgres ledger says of servers, logins and tables that do not fit, and how it finds tampering. */
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { appendOrFail, givenRun, note, type Writer } from '../../../test/conformance/ledger/support.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import { testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { ledgerSecrets, parseLedgerAddress } from '../address.ts';
import { payloadRef } from '../rules/chain.ts';
import { parsePostgresAddress } from './address.ts';
import { openDatabase } from './connection.ts';
import { type Migration, migrations } from './schema.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from './store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

let count = 0;
const newSchema = (): string => {
  count += 1;
  return `server_${count}`;
};
const open = (url: string, more: Partial<PostgresLedgerOptions> = {}) =>
  openPostgresLedger({ url, clock: systemClock, ids: testIds, validate: true, ...more });
const started = async (url: string, more: Partial<PostgresLedgerOptions> = {}): Promise<Writer> =>
  givenRun({ ledger: await open(url, more), newSession: testIds.session, newRun: testIds.run });

describe('the address of a Postgres ledger', () => {
  it('shows everything but its secrets', () => {
    const address = parseLedgerAddress('postgres://me:s%65cret-w0rd9x@db:5433/troupe?password=x&schema=team', '/');
    expect(address?.shown).toBe('postgres://me@db:5433/troupe');
    expect(JSON.stringify(address)).not.toContain('cret');
    expect(address && ledgerSecrets(address)).toEqual([{ name: 'ledger-password', value: 'secret-w0rd9x' }]);
  });

  it.each([
    'postgres://me:secret-w0rd@[',
    'postgres://me:secret-w0rd@db/x?schema=a;b',
    'postgres://me:secret-w0rd@db/x?payloads=here',
  ])('that is wrong is refused without repeating it: %#', async (url) => {
    const error = await open(url).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'ledger_address', fix: expect.stringContaining('PGPASSWORD') });
    expect(String(error)).not.toContain('secret-w0rd');
  });
});

describe('opening a Postgres ledger', () => {
  it.each([
    ['nobody listens', () => 'postgres://me:secret-w0rd@127.0.0.1:1/x', 'ledger_unreachable', /Start the server/],
    ['the password is wrong', () => server.address('x').replace(/:[^:@]+@/, ':secret-w0rd@'), 'ledger_login', /PGPASSWORD/],
    ['the database is not there', () => server.address('x').replace('/postgres?', '/nothing?'), 'ledger_missing', /createdb/],
  ])('says so when %s', async (_name, url, code, fix) => {
    const error = await open(url()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, fix: expect.stringMatching(fix) });
    expect(`${error}`).not.toMatch(/secret-w0rd|a-password/);
  });

  it('says so when the user may not make tables', async () => {
    await server.query("CREATE ROLE guest LOGIN PASSWORD 'guest'");
    const url = server.address('guests').replace(/tester:[^@]+@/, 'guest:guest@');
    await expect(open(url)).rejects.toMatchObject({ code: 'ledger_permission', fix: expect.stringContaining('GRANT') });
  });

  it('for reading makes nothing, and refuses to write', async () => {
    const url = server.address(newSchema());
    await expect(open(url, { readOnly: true })).rejects.toMatchObject({ code: 'ledger_missing' });
    const writer = await started(url);
    const reader = await open(url, { readOnly: true });
    expect(await reader.read({ session: writer.session })).toHaveLength(1);
    await expect(reader.append(writer.request([note(writer, 'no')]))).rejects.toMatchObject({ code: 'ledger_readonly' });
    await reader.close();
    await writer.ledger.close();
  });

  it('leaves nothing behind when it is closed', async () => {
    const schema = newSchema();
    const writer = await started(server.address(schema));
    await writer.ledger.close();
    expect(await server.query(`SELECT 1 FROM ${schema}.writer`)).toEqual([]);
    expect(await server.query(`SELECT owner FROM ${schema}.lease`)).toEqual([{ owner: null }]);
    await expect(writer.ledger.append(writer.request([]))).rejects.toMatchObject({ code: 'ledger_closed' });
  });
});

describe('two versions at once', () => {
  const next = (migrations.at(-1)?.version ?? 0) + 1;
  const second: Migration = {
    version: next,
    needs: 1,
    sql: "ALTER TABLE event ADD COLUMN mood text DEFAULT 'fine'; CREATE TABLE extra (id integer)",
  };
  const third: Migration = { version: next + 1, needs: next + 1, sql: 'ALTER TABLE session ADD COLUMN owner_note text' };

  it('work on the same tables while a change only adds', async () => {
    const schema = newSchema();
    const url = server.address(schema);
    const old = await started(url);
    const young = await open(url, { migrations: [...migrations, second] });
    await appendOrFail(old, [note(old, 'by the old one')]);
    expect((await young.append(old.request([note(old, 'by the young one')]))).kind).toBe('appended');
    const late = await open(url);
    expect(await late.read({ session: old.session })).toHaveLength(3);
    expect(await late.verify()).toMatchObject({ kind: 'sound', events: 3 });
    for (const ledger of [old.ledger, young, late]) await ledger.close();
    expect(await server.query(`SELECT version FROM ${schema}.schema_version ORDER BY version`)).toEqual(
      [...migrations, second].map(({ version }) => ({ version })),
    );
  });

  it('get the order of all sessions with the change that brings it, and keep it whoever writes', async () => {
    const url = server.address(newSchema());
    const old = await started(url, { migrations: migrations.slice(0, 2) });
    const ledger = await open(url);
    await appendOrFail(old, [note(old, 'by the old one')]);
    await expect
      .poll(async () => (await ledger.feed({ limit: 10 })).entries.map(({ session, position }) => [session, position]))
      .toEqual([
        [old.session, 1],
        [old.session, 2],
      ]);
    for (const one of [old.ledger, ledger]) await one.close();
  });

  it('do not, once a change is more than the old one can live with', async () => {
    const url = server.address(newSchema());
    await (await open(url)).close();
    await (await open(url, { migrations: [...migrations, second, third] })).close();
    await expect(open(url)).rejects.toMatchObject({ code: 'ledger_newer', fix: expect.stringContaining('Update') });
    await expect(open(url, { migrations: [...migrations, second] })).rejects.toMatchObject({ code: 'ledger_newer' });
  });

  it('make the tables once when many open a new ledger together', async () => {
    const schema = newSchema();
    const all = [...migrations, second];
    const some = [migrations, all, migrations, all, all];
    const ledgers = await Promise.all(some.map((known) => open(server.address(schema), { migrations: known })));
    for (const ledger of ledgers) await ledger.close();
    expect(await server.query(`SELECT version FROM ${schema}.schema_version`)).toHaveLength(next);
  });
});

describe('the shared folder', () => {
  const files = (folder: string): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 60);

  it('gives collected payloads and leftovers up, and takes the same bytes again', async () => {
    const folder = testFolder();
    const url = `${server.address(newSchema())}&payloads=${folder}`;
    const large = 'y'.repeat(limits.payloadInlineBytes);
    const old = await started(url);
    await appendOrFail(old, [note(old, large), old.ending()]);
    await old.ledger.release(old.fence);
    const leftover = join(folder, 'ab', 'c'.repeat(62));
    mkdirSync(join(folder, 'ab'), { recursive: true });
    writeFileSync(leftover, 'of a commit that failed');
    utimesSync(leftover, 1, 1);
    expect(files(folder)).toHaveLength(2);
    const { payloads } = await old.ledger.gc({ olderThanMs: 1_000, now: systemClock.now(), dryRun: false });
    expect(payloads).toBe(3);
    expect(files(folder)).toHaveLength(0);
    const young = await givenRun({ ledger: old.ledger, newSession: testIds.session, newRun: testIds.run });
    await appendOrFail(young, [note(young, large)]);
    expect(files(folder)).toHaveLength(1);
    expect(await young.ledger.read({ session: young.session })).toHaveLength(2);
    expect(await young.ledger.verify()).toMatchObject({ kind: 'sound', tombstones: 1 });
    await old.ledger.close();
  });

  it('is not collected from under an append that needs it', async () => {
    const url = `${server.address(newSchema())}&payloads=${testFolder()}`;
    const large = 'z'.repeat(limits.payloadInlineBytes);
    const ledger = await open(url);
    const other = await open(url);
    const policy = { olderThanMs: 1_000, now: systemClock.now(), dryRun: false };
    for (let round = 0; round < 5; round += 1) {
      const old = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
      await appendOrFail(old, [note(old, large), old.ending()]);
      await ledger.release(old.fence);
      const young = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
      await Promise.all([other.gc(policy), appendOrFail(young, [note(young, large)])]);
      expect(await ledger.read({ session: young.session })).toHaveLength(2);
      await appendOrFail(young, [young.ending()]);
      await ledger.release(young.fence);
    }
    expect((await ledger.verify()).kind).toBe('sound');
    for (const one of [ledger, other]) await one.close();
  });
});

describe('verify of a Postgres ledger', () => {
  const forged = payloadRef('{"value":"forged"}');
  const body = `convert_to('{"value":"forged"}', 'UTF8')`;
  const ofEvent = (position: number): string => `(SELECT payload FROM event WHERE position = ${position})`;

  it.each([
    ['a changed actor', 4, "UPDATE event SET actor = 'user' WHERE position = 4", /envelope was changed/],
    ['a changed time', 7, 'UPDATE event SET at = at + 1 WHERE position = 7', /envelope was changed/],
    ['a removed parent', 8, 'UPDATE event SET parent = NULL WHERE position = 8', /no parent/],
    ['a changed chain hash', 9, "UPDATE event SET chain = '\\x00' WHERE position = 9", /chain hash/],
    ['a payload in place of another', 6, `UPDATE event SET payload = ${ofEvent(2)} WHERE position = 6`, /envelope was changed/],
    ['a changed payload', 3, `UPDATE payload SET body = ${body} WHERE ref = ${ofEvent(3)}`, /bytes do not match/],
    [
      'a payload forged with its hash',
      3,
      `UPDATE payload SET body = ${body}, ref = '\\x${forged}' WHERE ref = ${ofEvent(3)};
       UPDATE event SET payload = '\\x${forged}' WHERE position = 3`,
      /envelope was changed/,
    ],
    ['a changed attachment', 6, "UPDATE payload SET body = 'forged' WHERE body = 'attached'", /attachment was changed/],
    ['a removed event', 5, 'DELETE FROM event WHERE position = 5', /missing/],
    ['a removed end', 9, 'DELETE FROM event WHERE position >= 9', /missing/],
    [
      'a removed end with a corrected seal',
      8,
      'DELETE FROM event WHERE position > 8; UPDATE session SET sealed = 8, head = 8',
      /not the event that ended/,
    ],
    ['a removed payload', 4, `DELETE FROM payload WHERE ref = ${ofEvent(4)}`, /missing/],
  ])('finds %s', async (_name, position, tamper, why) => {
    const schema = newSchema();
    const folder = testFolder();
    const url = `${server.address(schema)}&payloads=${folder}`;
    const writer = await started(url);
    const texts = ['two', 'three', 'four', 'x'.repeat(limits.payloadInlineBytes), 'six', 'seven', 'eight', 'nine'];
    const events = texts.map((text) => ({ ...note(writer, text), attachment: text === 'six' ? 'attached' : undefined }));
    await appendOrFail(writer, events);
    await appendOrFail(writer, [writer.ending()]);
    expect((await writer.ledger.verify()).kind).toBe('sound');
    await server.query(`SET search_path TO ${schema}; ${tamper}`);
    const report = await writer.ledger.verify();
    expect(report).toEqual({ kind: 'broken', event: writer.eventAt(position), why: expect.stringMatching(why) });
    await writer.ledger.close();
  });

  it('finds a payload missing from the shared folder, and says when the folder was not named', async () => {
    const url = server.address(newSchema());
    const folder = testFolder();
    const writer = await started(`${url}&payloads=${folder}`);
    await appendOrFail(writer, [note(writer, 'x'.repeat(limits.payloadInlineBytes))]);
    const without = await open(url);
    await expect(without.read({ session: writer.session })).rejects.toMatchObject({ code: 'ledger_payloads' });
    await without.close();
    rmSync(folder, { recursive: true });
    const report = await writer.ledger.verify();
    expect(report).toMatchObject({ kind: 'broken', event: writer.eventAt(2), why: expect.stringMatching(/missing/) });
    await writer.ledger.close();
  });
});

describe('more readers than connections', () => {
  it('wait for each other, however long it takes: that is not a server that cannot be reached', async () => {
    const address = parsePostgresAddress(server.address(newSchema()));
    const connectMs = PATIENCE_MS;
    const database = await openDatabase(address, { clock: systemClock, readOnly: false, connectMs });
    const gate = Promise.withResolvers<void>();
    const begun = Array.from({ length: limits.databaseReaders }, () => Promise.withResolvers<void>());
    const busy = begun.map(({ resolve }) =>
      database.transaction(async () => {
        resolve();
        await gate.promise;
      }),
    );
    await Promise.all(begun.map(({ promise }) => promise));
    // All are connected: no time passes but here, and only for those who wait.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = Promise.all([
      database.transaction(async (connection) => (await connection.query({ text: 'SELECT 1 AS one' })).rows),
      database.rows({ name: 'two', text: 'SELECT 2 AS two' }, []),
    ]);
    late.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(connectMs * 2);
    vi.useRealTimers();
    gate.resolve();
    await Promise.all(busy);
    expect(await late).toEqual([[{ one: 1 }], [{ two: 2 }]]);
    await database.close();
  });
});

it('its heart beats on when a lease of before is given back', async () => {
  const schema = newSchema();
  const timers: (() => void)[] = [];
  const after: Clock['after'] = (_delay, callback) => {
    timers.push(callback);
    return () => undefined;
  };
  const writer = await started(server.address(schema), { clock: { ...systemClock, after } });
  const again = await writer.ledger.acquire(writer.session, writer.run, { assigned: true });
  expect(again.kind).toBe('acquired');
  await writer.ledger.release(writer.fence);
  await server.query(`UPDATE ${schema}.writer SET beat = 'epoch'`);
  for (const fire of timers.splice(0)) fire();
  await expect.poll(() => server.query(`SELECT id FROM ${schema}.writer WHERE beat > 'epoch'`)).toHaveLength(1);
  await writer.ledger.close();
});
