/** What belongs to the file: how it is made, and what happens when it is not as it should be. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, type Writer } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { type Clock, sleep, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger } from '../port.ts';
import { eventsSql } from './read.ts';

const source = (name: string): string => new URL(name, import.meta.url).href;

function start(ledger: Ledger, prompt?: string): Promise<Writer> {
  return givenRun({ ledger, newSession: testIds.session, newRun: testIds.run }, prompt);
}

async function ledgerFile(): Promise<{ path: string; writer: Writer }> {
  const path = join(testFolder(), 'deep', 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await start(ledger);
  await appendOrFail(writer, [note(writer, 'one')]);
  await ledger.close();
  return { path, writer };
}

describe('the file of a SQLite ledger', () => {
  it('is made for its owner only, with its folders', async () => {
    const { path } = await ledgerFile();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  });

  it('costs less than 290 bytes per event beyond the payloads', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    const count = 5000;
    for (let batch = 0; batch < count / 100; batch += 1) {
      const events = Array.from({ length: 100 }, (_, index) => ({
        ...note(writer, `${batch}/${index}`.padEnd(300, '.')),
        actor: 'agent:researcher' as const,
        tool: 'read_file',
        step: `turn/${batch}/tool/${index}`,
      }));
      await appendOrFail(writer, events);
    }
    const { payloadBytes } = await ledger.stats();
    await ledger.close();
    expect((statSync(path).size - payloadBytes) / count).toBeLessThan(290);
  });

  it('is not searched through for the newest events of some types of a run: only those are looked at', async () => {
    const { path, writer } = await ledgerFile();
    const database = new DatabaseSync(path);
    const sql = eventsSql({ session: writer.session, run: writer.run, types: ['task.error', 'run.started'], newest: true });
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    database.close();
    const ofEvents = plan.filter((line) => /\bevent\b/.test(line));
    expect(ofEvents).toEqual([
      'SEARCH event USING PRIMARY KEY (session=? AND position=?)',
      'SEARCH event USING COVERING INDEX event_of_run (run=? AND type=? AND position>?)',
      'SEARCH event USING COVERING INDEX event_of_run (run=? AND type=? AND position>?)',
    ]);
  });

  it('from a newer version is refused', async () => {
    const { path } = await ledgerFile();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openTestLedger({ path })).toThrowError(
      expect.objectContaining({ code: 'ledger_newer', fix: expect.any(String) }),
    );
  });

  it('that is garbage, cut off or of another program is refused as corrupt, and left alone', async () => {
    const folder = testFolder();
    const garbage = join(folder, 'garbage.db');
    writeFileSync(garbage, 'not a database '.repeat(500));
    const foreign = join(folder, 'foreign.db');
    const database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    const { path: cut } = await ledgerFile();
    truncateSync(cut, statSync(cut).size - 5000);
    for (const path of [garbage, foreign, cut]) {
      const before = readFileSync(path);
      expect(() => openTestLedger({ path })).toThrowError(expect.objectContaining({ code: 'ledger_corrupt' }));
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  it('that is missing cannot be opened for reading only', () => {
    const path = join(testFolder(), 'none.db');
    expect(() => openTestLedger({ path, readOnly: true })).toThrowError(expect.objectContaining({ code: 'ledger_missing' }));
    expect(existsSync(path)).toBe(false);
  });

  it('opened for reading only can be read, and says so on a write', async () => {
    const { path, writer } = await ledgerFile();
    const ledger = openTestLedger({ path, readOnly: true });
    expect(await ledger.read({ session: writer.session })).toHaveLength(2);
    expect((await ledger.verify()).kind).toBe('sound');
    await expect(ledger.acquire(writer.session, writer.run)).rejects.toMatchObject({ code: 'ledger_readonly' });
    await ledger.close();
  });

  it.runIf(process.getuid?.() === 0)('without write permission can still be read', async () => {
    const { path, writer } = await ledgerFile();
    chmodSync(join(path, '..', '..'), 0o755);
    chmodSync(join(path, '..'), 0o555);
    chmodSync(path, 0o444);
    const program = `
      const [{ openSqliteLedger }, { systemClock }] = await Promise.all([import(${JSON.stringify(source('./store.ts'))}),
        import(${JSON.stringify(source('../../base/clock.ts'))})]);
      process.setuid(65534);
      const ledger = openSqliteLedger({ path: ${JSON.stringify(path)}, clock: systemClock, ids: { nonce: () => 'reader' } });
      const events = await ledger.read({ session: ${JSON.stringify(writer.session)} });
      const code = await ledger.acquire('ses_x', 'run_x').then(() => 'written', (error) => error.code);
      process.stdout.write(events.length + ' ' + code);`;
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })).toBe(
      '2 ledger_readonly',
    );
  });

  it('keeps large payloads beside it, each once', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    const large = 'x'.repeat(limits.payloadInlineBytes + 1);
    const [event] = await appendOrFail(writer, [note(writer, large), note(writer, large)]);
    const ref = event?.payload_ref ?? '';
    expect(readdirSync(`${path}-payloads`, { recursive: true }).sort()).toEqual([
      ref.slice(0, 2),
      join(ref.slice(0, 2), ref.slice(2)),
    ]);
    expect((await ledger.stats()).fileBytes).toBe(large.length + '{"value":""}'.length);
    await appendOrFail(writer, [writer.ending()]);
    await ledger.release(writer.fence);
    await ledger.gc({ olderThanMs: 0, now: writer.at + 1, dryRun: false });
    expect(existsSync(join(`${path}-payloads`, ref.slice(0, 2), ref.slice(2)))).toBe(false);
    const again = await start(ledger, 'again');
    await appendOrFail(again, [note(again, large)]);
    expect(await ledger.read({ session: again.session })).toHaveLength(2);
    await ledger.close();
  });

  it('loses leftover payload files at the next collection, and no others', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    await appendOrFail(writer, [note(writer, 'x'.repeat(limits.payloadInlineBytes))]);
    const kept = readdirSync(`${path}-payloads`, { recursive: true, encoding: 'utf8' });
    mkdirSync(join(`${path}-payloads`, 'ff'), { recursive: true });
    writeFileSync(join(`${path}-payloads`, 'ff', '0'.repeat(62)), 'never committed');
    writeFileSync(join(`${path}-payloads`, 'ff', `${'0'.repeat(62)}.someone.tmp`), 'half writ');
    const policy = { olderThanMs: 0, dryRun: false };
    await ledger.gc({ ...policy, now: statSync(path).mtimeMs - 1000 });
    expect(readdirSync(join(`${path}-payloads`, 'ff'))).toHaveLength(2);
    await ledger.gc({ ...policy, now: statSync(path).mtimeMs + 7_200_000 });
    expect(readdirSync(join(`${path}-payloads`, 'ff'))).toEqual([]);
    expect(readdirSync(`${path}-payloads`, { recursive: true })).toEqual(expect.arrayContaining(kept));
    expect(await ledger.read({ session: writer.session })).toHaveLength(2);
    await ledger.close();
  });

  it('gives space back after a collection, and keeps nothing of what was in it', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    for (let index = 0; index < 200; index += 1) await appendOrFail(writer, [note(writer, `${index}`.padEnd(10_000, '.'))]);
    await appendOrFail(writer, [writer.ending()]);
    await ledger.release(writer.fence);
    const before = (await ledger.stats()).databaseBytes;
    await ledger.gc({ olderThanMs: 0, now: writer.at + 1, dryRun: false });
    expect((await ledger.stats()).databaseBytes).toBeLessThan(before / 10);
    await ledger.close();
    expect(readFileSync(path).includes('.'.repeat(100))).toBe(false);
  });
});

describe('a full disk', () => {
  it('refuses the whole batch, writes nothing of it, and goes on when there is room again', async () => {
    const path = join(testFolder(), 'ledger.db');
    const roomy = openTestLedger({ path });
    const writer = await start(roomy);
    const pages = (await roomy.stats()).databaseBytes / 4096;
    await roomy.close();
    const tight = openTestLedger({ path, maxPages: Math.ceil(pages) });
    const lease = await tight.acquire(writer.session, writer.run);
    if (lease.kind !== 'acquired') throw new Error(lease.kind);
    const request = (value: string) => ({ ...writer.request([note(writer, value)]), fence: lease.fence });
    const batch = await Promise.allSettled([
      tight.append({ ...request('small'), counters: [{ name: 'spent', add: 1 }] }),
      ...Array.from({ length: 100 }, (_, index) => tight.append(request(`${index}`.padEnd(40_000, '.')))),
    ]);
    for (const outcome of batch) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ledger_full', fix: expect.any(String) } });
    }
    expect(await tight.read({ session: writer.session })).toHaveLength(1);
    expect(await tight.counter('spent')).toBe(0);
    expect((await tight.append(request('fits'))).kind).toBe('appended');
    expect(await tight.verify()).toMatchObject({ kind: 'sound', events: 2 });
    await tight.close();
  });

  it('refuses more than the queue may hold', async () => {
    const ledger = openTestLedger({ path: ':memory:', validate: false });
    const writer = await start(ledger);
    const many = Array.from({ length: limits.appendQueueEvents / 2 + 1 }, () => note(writer, 'x'));
    const [first, second] = await Promise.allSettled([ledger.append(writer.request(many)), ledger.append(writer.request(many))]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'ledger_queue_full' } });
    await ledger.close();
  });
});

describe('leases and time', () => {
  const clockAt = (time: { now: number }): Clock => ({
    now: () => time.now,
    elapsed: () => time.now,
    after: () => () => undefined,
  });

  it('takes over from an owner whose heartbeat stopped, and fences it off', async () => {
    const path = join(testFolder(), 'ledger.db');
    const time = { now: 1_000_000 };
    const first = openTestLedger({ path, clock: clockAt(time), owner: { host: 'elsewhere' } });
    const second = openTestLedger({ path, clock: clockAt(time) });
    const writer = await start(first);
    expect((await second.acquire(writer.session, writer.run)).kind).toBe('held');
    time.now += limits.leaseMs + 1;
    expect((await second.runs({}))[0]?.owner).toBeNull();
    expect(await second.acquire(writer.session, writer.run)).toMatchObject({
      kind: 'acquired',
      takenOver: true,
      fence: { epoch: 2 },
    });
    expect(await first.append(writer.request([note(writer, 'late')]))).toEqual({ kind: 'lease_lost', run: writer.run });
    await first.close();
    await second.close();
  });

  /** A ledger whose heart beats only when the test lets time pass, and another process beside it. */
  function beating() {
    const path = join(testFolder(), 'ledger.db');
    const time = { now: 1_000_000 };
    const timers: (() => void)[] = [];
    const after: Clock['after'] = (_delay, callback) => {
      timers.push(callback);
      return () => undefined;
    };
    const first = openTestLedger({ path, clock: { ...clockAt(time), after }, owner: { host: 'elsewhere' } });
    const second = openTestLedger({ path, clock: clockAt(time) });
    const pass = async (renewals: number): Promise<void> => {
      for (let beat = 0; beat < renewals; beat += 1) {
        time.now += limits.leaseRenewMs;
        for (const fire of timers.splice(0)) fire();
        // Written in order: when this is done, the beat is.
        await first.pin(testIds.session(), false);
      }
    };
    return { first, second, pass };
  }

  it('keeps its leases as long as its heart beats', async () => {
    const { first, second, pass } = beating();
    const writer = await start(first);
    await pass(5);
    expect((await second.acquire(writer.session, writer.run)).kind).toBe('held');
    await first.release(writer.fence);
    await first.close();
    await second.close();
  });

  it.each([
    ['given back', async (ledger: Ledger, writer: Writer) => await ledger.release(writer.fence)],
    [
      'given back with an append that comes too late',
      async (ledger: Ledger, writer: Writer) => {
        const late = await ledger.append({ ...writer.request([note(writer, 'late')]), release: true });
        expect(late.kind).toBe('lease_lost');
      },
    ],
  ])('its heart beats on when a lease of before is %s', async (_how, giveBack) => {
    const { first, second, pass } = beating();
    const writer = await start(first);
    const again = await first.acquire(writer.session, writer.run, { assigned: true });
    expect(again.kind).toBe('acquired');
    await giveBack(first, writer);
    await pass(5);
    expect((await second.acquire(writer.session, writer.run)).kind).toBe('held');
    await first.close();
    await second.close();
  });

  it('takes over at once from a process of this host that is gone', async () => {
    const path = join(testFolder(), 'ledger.db');
    const gone = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' });
    const first = openTestLedger({ path, owner: { pid: Number(gone) } });
    const second = openTestLedger({ path });
    const writer = await start(first);
    expect(await second.acquire(writer.session, writer.run)).toMatchObject({ kind: 'acquired', takenOver: true });
    await first.close();
    await second.close();
  });

  it('is not confused by a clock that goes backwards', async () => {
    const path = join(testFolder(), 'ledger.db');
    const time = { now: 10_000_000 };
    const ledger = openTestLedger({ path, clock: clockAt(time), owner: { host: 'elsewhere' } });
    const other = openTestLedger({ path, clock: clockAt(time) });
    const writer = await start(ledger);
    time.now -= 5_000;
    expect((await other.acquire(writer.session, writer.run)).kind).toBe('held');
    await appendOrFail(writer, [{ ...note(writer, 'earlier'), at: writer.at - 60_000 }, note(writer, 'later')]);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', events: 3 });
    time.now -= limits.leaseMs;
    expect((await other.acquire(writer.session, writer.run)).kind).toBe('acquired');
    await ledger.close();
    await other.close();
  });

  it('waits for another process that is writing, without blocking, and gives up in the end', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    const rude = new DatabaseSync(path);
    rude.exec('BEGIN IMMEDIATE');
    const waiting = appendOrFail(writer, [note(writer, 'patient')]);
    // Whoever blocks here while it waits, waits for something that cannot come.
    for (let turn = 0; turn < 20; turn += 1) await sleep(systemClock, 1);
    rude.exec('COMMIT');
    await waiting;
    await ledger.close();

    const elapsed = { now: 0 };
    const hasty = openTestLedger({
      path,
      clock: {
        now: () => Date.now(),
        elapsed: () => (elapsed.now += 1000),
        after: (_delay, callback) => {
          setImmediate(callback);
          return () => undefined;
        },
      },
    });
    rude.exec('BEGIN IMMEDIATE');
    await expect(hasty.pin(writer.session, true)).rejects.toMatchObject({ code: 'ledger_busy' });
    rude.exec('ROLLBACK');
    rude.close();
    await hasty.pin(writer.session, true);
    await hasty.close();
  });
});

describe('closing a SQLite ledger', () => {
  it('writes what is queued, gives leases back, and refuses what comes later', async () => {
    const path = join(testFolder(), 'ledger.db');
    const ledger = openTestLedger({ path });
    const writer = await start(ledger);
    const queued = ledger.append(writer.request([note(writer, 'queued')]));
    await ledger.close();
    expect((await queued).kind).toBe('appended');
    await expect(ledger.append(writer.request([note(writer, 'late')]))).rejects.toMatchObject({ code: 'ledger_closed' });
    const next = openTestLedger({ path });
    expect(await next.acquire(writer.session, writer.run)).toMatchObject({ kind: 'acquired', takenOver: false });
    await next.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('lets the process end by itself', () => {
    const folder = testFolder();
    const program = `
      const { openSqliteLedger } = await import(${JSON.stringify(source('./store.ts'))});
      const { systemClock } = await import(${JSON.stringify(source('../../base/clock.ts'))});
      const path = ${JSON.stringify(join(folder, 'l.db'))};
      const ledger = openSqliteLedger({ path, clock: systemClock, ids: { nonce: () => 'me' } });
      await ledger.acquire('ses_a', 'run_a');
      ledger.onInbound('ses_a', () => {});
      process.stdout.write('idle');`;
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: PATIENCE_MS }),
    ).toBe('idle');
  });
});
