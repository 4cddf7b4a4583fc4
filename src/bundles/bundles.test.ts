/**
 * Bundles: what goes out comes in again the same, on both stores; what was changed on the way is refused, and nothing is stored.
 */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, opening, upTo } from '../../test/conformance/ledger/support.ts';
import { CHANGES } from '../../test/support/bundles/changes.ts';
import { changed, type Entry, entriesOf, tarOf } from '../../test/support/bundles/entries.ts';
import { type PostgresServer, startPostgres } from '../../test/support/ledger/postgres-server.ts';
import { testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { type LedgerAddress, parseLedgerAddress } from '../ledger/address.ts';
import { openCopyStore, openLedger } from '../ledger/open.ts';
import type { Ledger } from '../ledger/port.ts';
import { createProtection } from '../ledger/seals/protection.ts';
import { type ImportReport, importBundle } from './import.ts';
import { unpacked } from './read.ts';
import { writeBundle } from './write.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const ids = testIds;
const clock = systemClock;
const SECRET = 'Xk29-vbTq';
const protection = createProtection([{ name: 'DB_PASS', value: SECRET }]);
let count = 0;

function address(text: string): LedgerAddress {
  const parsed = parseLedgerAddress(text, '/');
  if (parsed === undefined) throw new Error(text);
  return parsed;
}
const newSqlite = (): LedgerAddress => address(`sqlite:${testFolder()}/ledger.db`);
function newPostgres(): LedgerAddress {
  count += 1;
  return address(`${server.address(`bundles_${count}`)}&payloads=${testFolder()}`);
}
const open = (where: LedgerAddress, sealed = false): Promise<Ledger> =>
  openLedger(where, { clock, ids, ...present({ protection: sealed ? protection : undefined }) });

interface Filled {
  readonly session: SessionId;
  readonly other: SessionId;
}

/** Children, several pages, large payloads twice, attachments, budgets, a secret; and one that stands in the middle. */
async function fill(where: LedgerAddress): Promise<Filled> {
  const ledger = await open(where, true);
  const store = { ledger, newSession: ids.session, newRun: ids.run };
  const writer = await givenRun(store);
  const child = ids.run();
  const large = note(writer, 'x'.repeat(limits.payloadInlineBytes));
  const scopes = ['project'];
  await appendOrFail(writer, [
    {
      ...opening(writer),
      run: child,
      cause: writer.eventAt(1),
      payload: { ...opening(writer).payload, origin: { kind: 'pattern', parent: writer.run, role: 'worker' } },
    },
    { ...large, attachment: 'nul \u0000 and \u00e4' },
    large,
    { ...note(writer, 'raw'), attachment: Uint8Array.from([0, 255, 1]) },
    note(writer, `is ${SECRET}`),
    { ...note(writer, ''), type: 'budget.reserved', payload: { scopes, amounts: { calls: 1, tokens: 9 } } },
    ...upTo(limits.bundlePageEvents + 20).map((index) => ({ ...note(writer, `note ${index}`), tool: 'read' })),
  ]);
  await ledger.append({ ...writer.request([]), counters: [{ name: 'budget/project/calls', add: 1 }] });
  await appendOrFail(writer, [{ ...writer.ending(), run: child }, writer.ending()]);
  await ledger.release(writer.fence);
  const waiting = await givenRun(store);
  await ledger.close();
  return { session: writer.session, other: waiting.session };
}

async function bundleOf(where: LedgerAddress, sessions: readonly SessionId[], key?: KeyObject): Promise<Buffer> {
  const ledger = await open(where);
  const agents = [{ agent: 'tester', text: '---\nname: tester\n---\nYou test.\n' }];
  const pieces: Uint8Array[] = [];
  for await (const piece of writeBundle(ledger, { sessions, agents, version: '9.9.9', key })) pieces.push(piece);
  await ledger.close();
  return Buffer.concat(pieces);
}

interface Bringing {
  readonly check?: boolean;
  readonly key?: KeyObject;
  readonly packed?: boolean;
}

async function bring(tar: Buffer, where: LedgerAddress, options: Bringing = {}): Promise<ImportReport> {
  const target = await openCopyStore(where, { clock, ids, readOnly: false });
  const { check = false, packed = false, key } = options;
  try {
    const chunks = () => unpacked(inChunks(tar), packed);
    return await importBundle(chunks, target, { file: 'a.tar', clock, check, ...present({ key }) });
  } finally {
    await target.close();
  }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += 7_000) yield bytes.subarray(at, at + 7_000);
}

async function seen(where: LedgerAddress, session: SessionId) {
  const ledger = await open(where);
  const events = [];
  for (let after = 0; ; after += limits.readPageEvents) {
    const page = await ledger.read({ session, after });
    events.push(...page);
    if (page.length < limits.readPageEvents) break;
  }
  const result = { events, runs: await ledger.runs({ session }), verified: await ledger.verify() };
  await ledger.close();
  return result;
}

async function isEmpty(where: LedgerAddress): Promise<boolean> {
  const ledger = await open(where);
  const stats = await ledger.stats();
  await ledger.close();
  return stats.sessions === 0 && stats.events === 0 && stats.payloads === 0;
}

describe('a bundle', () => {
  it.each([
    ['a file', newSqlite, newPostgres],
    ['Postgres', newPostgres, newSqlite],
  ])('of %s brings the same events into the other store, and they verify', async (_name, from, to) => {
    const [source, target] = [from(), to()];
    const { session, other } = await fill(source);
    const tar = await bundleOf(source, [session, other]);
    expect(tar.includes(SECRET)).toBe(false);
    expect(await bundleOf(source, [session, other])).toEqual(tar);
    const report = await bring(tar, target);
    expect(report).toMatchObject({ stored: true, troupe: '9.9.9', signedBy: null, agents: ['tester'] });
    expect(report.sessions[0]).toMatchObject({ session, sealed: 1, gone: 0 });
    const [before, after] = [await seen(source, session), await seen(target, session)];
    const came = after.events.slice(0, before.events.length);
    const comparable = (events: typeof came) => events.map(({ payload_ref: _, ...event }) => event);
    expect(comparable(came)).toEqual(comparable(before.events));
    expect(came.filter(({ payload_ref }, index) => payload_ref !== before.events[index]?.payload_ref)).toHaveLength(1);
    const last = after.events.at(-1);
    expect(last).toMatchObject({ event_type: 'session.imported', payload: { events: came.length, file: 'a.tar', sealed: 1 } });
    expect(after.runs).toEqual(before.runs.map((run) => ({ ...run })));
    expect(after.verified).toMatchObject({ kind: 'sound', sessions: 2 });
    expect((await seen(target, other)).runs[0]).toMatchObject({ state: 'paused', owner: null });
  });

  it('has attachments and large payloads byte for byte, and what was sealed says that it was left out', async () => {
    const [source, target] = [newSqlite(), newSqlite()];
    const { session } = await fill(source);
    await bring(await bundleOf(source, [session]), target);
    const [from, to] = [await open(source, true), await open(target, true)];
    for (const event of await from.read({ session, limit: 10 })) {
      if (event.attachment_ref === null) continue;
      expect(await to.payload(event.attachment_ref)).toEqual(await from.payload(event.attachment_ref));
    }
    const exact = await to.read({ session, exact: true, limit: 10 });
    expect(exact.filter((event) => event.inexact !== undefined)).toMatchObject([
      { payload: { value: 'is [redacted:DB_PASS]' }, inexact: expect.stringContaining('the bundle that it came in') },
    ]);
    expect(await to.counter('budget/project/calls')).toBe(0);
    for (const ledger of [from, to]) await ledger.close();
  });

  it('is the same packed; a second time, or where it began, it changes nothing', async () => {
    const [source, target] = [newSqlite(), newSqlite()];
    const { session } = await fill(source);
    const tar = await bundleOf(source, [session]);
    expect(await bring(tar, target, { check: true })).toMatchObject({ stored: false });
    expect(await isEmpty(target)).toBe(true);
    expect(await bring(gzipSync(tar), target, { packed: true })).toMatchObject({ stored: true });
    const before = await seen(target, session);
    expect(await bring(tar, target)).toMatchObject({ stored: false, sessions: [{ here: 'imported' }] });
    expect(await bring(tar, source)).toMatchObject({ stored: false, sessions: [{ here: 'original' }] });
    expect(await seen(target, session)).toEqual(before);
    // Through two ledgers it is still the session that it was.
    const third = newSqlite();
    await bring(await bundleOf(target, [session]), third);
    const again = await seen(third, session);
    expect(again.events.slice(-2).map(({ event_type }) => event_type)).toEqual(['session.imported', 'session.imported']);
    expect(again.verified).toMatchObject({ kind: 'sound' });
  });

  it('is refused where the same ids are something else, and what is there stays', async () => {
    const [source, target] = [newSqlite(), newPostgres()];
    const { session, other } = await fill(source);
    await bring(await bundleOf(source, [other]), target);
    const ledger = await open(source);
    const [row] = await ledger.runs({ session: other });
    const event = { type: 'run.signalled', run: row?.run ?? ('' as never), actor: 'user', at: 5 } as const;
    const events = [{ ...event, cause: `${other}.1` as never, payload: { signal: 'pause' } }] as const;
    await ledger.append({ session: other, fence: null, events });
    await ledger.close();
    const before = await seen(target, other);
    const both = await bundleOf(source, [session, other]);
    await expect(bring(both, target)).rejects.toMatchObject({ code: 'import_differs', message: expect.stringContaining(other) });
    expect(await seen(target, other)).toEqual(before);
    expect((await seen(target, session)).events).toEqual([]);
  });

  it.each([
    ['a file', newSqlite],
    ['Postgres', newPostgres],
  ])('that came into %s can be forgotten, also where a run had not ended, and brings nothing of it back', async (_name, to) => {
    const [source, target] = [newSqlite(), to()];
    const { session, other } = await fill(source);
    await bring(await bundleOf(source, [other]), target);
    const ledger = await open(target);
    expect((await ledger.runs({ session: other }))[0]).toMatchObject({ state: 'paused' });
    const forget = { parts: [{ session: other }], by: 'ana', at: 1, dryRun: false };
    expect(await ledger.forget(forget)).toMatchObject({ kind: 'forgotten' });
    await ledger.close();
    await expect(bring(await bundleOf(source, [session, other]), target)).rejects.toMatchObject({
      ...{ code: 'import_differs', message: expect.stringContaining('what is gone does not come back') },
    });
  });

  it('of a session that has grown since says so, and what was imported stays', async () => {
    const [source, target] = [newSqlite(), newSqlite()];
    const { other } = await fill(source);
    const first = await bundleOf(source, [other]);
    await bring(first, target);
    const ledger = await open(source);
    const [row] = await ledger.runs({ session: other });
    const event = { type: 'run.signalled', run: row?.run ?? ('' as never), actor: 'user', cause: `${other}.1` as never } as const;
    const signals = Array.from({ length: 5 }, (_, at) => ({ ...event, at, payload: { signal: 'pause' } }) as const);
    await ledger.append({ session: other, fence: null, events: signals });
    await ledger.close();
    const before = await seen(target, other);
    await expect(bring(await bundleOf(source, [other]), target)).rejects.toMatchObject({
      ...{ code: 'import_differs', message: expect.stringContaining('if it has grown since') },
    });
    expect(await bring(first, target)).toMatchObject({ stored: false });
    expect(await seen(target, other)).toEqual(before);
  });

  it('is signed by whoever has the key', async () => {
    const [source, target] = [newSqlite(), newSqlite()];
    const { other } = await fill(source);
    const [mine, theirs] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
    const tar = await bundleOf(source, [other], mine.privateKey);
    const entries = entriesOf(tar);
    const refused = async (bytes: Buffer, why: RegExp, key?: KeyObject) => {
      const code = expect(bring(bytes, target, present({ key }))).rejects;
      await code.toMatchObject({ code: 'bundle_signature', message: expect.stringMatching(why) });
      expect(await isEmpty(target)).toBe(true);
    };
    await refused(tar, /was signed with the key [0-9a-f]{16}, not with/, theirs.publicKey);
    await refused(tarOf(entries.filter(([name]) => name !== 'signature.json')), /it has none/, mine.publicKey);
    await refused(tarOf(changed(entries, /^manifest/, (text) => text.replace(/\n$/, ' \n'))), /does not fit the manifest/);
    expect(await bring(tar, target, { key: mine.publicKey })).toMatchObject({
      signedBy: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

const MAIN = join(import.meta.dirname, '..', '..', 'test', 'support', 'bundles', 'import-main.ts');

describe('a process that is killed while it imports', () => {
  it.each([
    ['payloads', 0],
    ['events', 0],
    ['end', 2],
  ])('leaves all sessions or none: at %s', async (where, sessions) => {
    const [source, folder] = [newSqlite(), testFolder()];
    const { session, other } = await fill(source);
    const file = join(folder, 'a.tar');
    writeFileSync(file, await bundleOf(source, [session, other]));
    const target = address(`sqlite:${folder}/ledger.db`);
    const killed = spawnSync(process.execPath, [MAIN, file, `sqlite:${target.location()}`, where]);
    expect({ signal: killed.signal, said: killed.stderr.toString() }).toMatchObject({ signal: 'SIGKILL' });
    const ledger = await open(target);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', sessions });
    expect(await ledger.runs({})).toHaveLength(sessions === 0 ? 0 : 3);
    await ledger.close();
    const again = spawnSync(process.execPath, [MAIN, file, `sqlite:${target.location()}`]);
    expect(again.stdout.toString()).toBe(`${sessions === 0}\n`);
    expect((await seen(target, session)).verified).toMatchObject({ kind: 'sound', sessions: 2 });
  });
});

describe('a bundle that somebody changed', () => {
  let tar: Buffer;
  beforeAll(async () => {
    const source = newSqlite();
    const { session } = await fill(source);
    tar = await bundleOf(source, [session]);
  });

  it.each(CHANGES)('with %s is refused, and nothing is stored', async (_name, make, why) => {
    const target = newSqlite();
    const bad = make(entriesOf(tar), tar);
    await expect(bring(bad, target)).rejects.toMatchObject({
      code: expect.stringMatching(/^bundle_(bad|newer|too_large)$/),
      message: expect.stringMatching(why),
      fix: expect.stringContaining('Nothing was stored'),
    });
    expect(await isEmpty(target)).toBe(true);
  });

  it('is refused when it was packed and cut off, or is no packed file', async () => {
    const target = newSqlite();
    const whole = gzipSync(tar);
    for (const bad of [whole.subarray(0, whole.length / 2), Buffer.from(whole).fill(7, 200, 300)])
      await expect(bring(bad, target, { packed: true })).rejects.toMatchObject({ code: 'bundle_bad' });
    expect(await isEmpty(target)).toBe(true);
  });

  it('is refused when little of it becomes too much', async () => {
    const target = newSqlite();
    const ahead = Array.from({ length: 4 }, (_, index): Entry => {
      const body = Buffer.alloc(limits.payloadBytes, index);
      return [`payloads/${hash('sha256', body)}`, body];
    });
    const bomb = gzipSync(tarOf([...entriesOf(tar).slice(0, 1), ...ahead]), { level: 1 });
    expect(bomb.length).toBeLessThan(limits.payloadBytes / 10);
    await expect(bring(bomb, target, { packed: true })).rejects.toMatchObject({
      code: 'bundle_too_large',
      message: expect.stringContaining('bundleAheadBytes'),
    });
    expect(await isEmpty(target)).toBe(true);
  });
});
