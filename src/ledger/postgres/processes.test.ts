/** Several real processes on one Postgres ledger, and what happens when they, the server or a connection go away. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, noteText, upTo, type Writer } from '../../../test/conformance/ledger/support.ts';
import { startPostgresProcess } from '../../../test/support/ledger/postgres-child.ts';
import { startPostgresProxy } from '../../../test/support/ledger/postgres-proxy.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import { testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger } from '../port.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from './store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

let count = 0;
const newAddress = (): string => {
  count += 1;
  return server.address(`processes_${count}`);
};
const opened: Ledger[] = [];
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
});
async function open(url: string, more: Partial<PostgresLedgerOptions> = {}): Promise<Ledger> {
  const ledger = await openPostgresLedger({ url, clock: systemClock, ids: testIds, validate: true, ...more });
  opened.push(ledger);
  return ledger;
}
const children: ReturnType<typeof startPostgresProcess>[] = [];
afterAll(() => {
  for (const { child } of children) child.kill('SIGKILL');
});
function start(...given: Parameters<typeof startPostgresProcess>): ReturnType<typeof startPostgresProcess> {
  const started = startPostgresProcess(...given);
  children.push(started);
  return started;
}
const started = (ledger: Ledger): Promise<Writer> => givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
const taskOf = ({ session, run, fence }: Writer) => ({ session, run, fence });

const SLOW_LINE = `
  const line = async (fence) => {
    for (let index = 0; ; index += 1) {
      const outcome = await ledger.append({ session: task.session, fence, events: [event('step.recorded', { value: String(index) })] });
      say(outcome.kind + ' ' + index);
      if (outcome.kind !== 'appended') return;
    }
  };`;

it('gives gap-free positions to three processes that append to one session at once', async () => {
  const url = newAddress();
  const ledger = await open(url);
  const writer = await started(ledger);
  const body = `
    for (let index = 0; index < 60; index += 1) {
      const append = (text) => ledger.append({ session: task.session, fence: task.fence,
        events: [event('step.recorded', { value: task.name + ' ' + text })], counters: [{ name: 'appends', add: 1, max: 200 }] });
      const outcomes = await (index % 3 === 0 ? Promise.all([append(index), append(index + '+')]) : Promise.all([append(index)]));
      for (const { kind } of outcomes) say(kind);
    }
    await ledger.close();`;
  const names = ['a', 'b', 'c'];
  const ended = await Promise.all(names.map((name) => start(url, { ...taskOf(writer), name }, body).ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const said = ended.flatMap(({ output }) => output.trim().split('\n'));
  expect(said.filter((kind) => kind === 'appended')).toHaveLength(200);
  expect(said.filter((kind) => kind === 'over_limit')).toHaveLength(40);
  const events = await ledger.read({ session: writer.session });
  expect(events.map((event) => event.position)).toEqual(upTo(201));
  for (const name of names) {
    const own = events
      .slice(1)
      .map(noteText)
      .filter((text) => text.startsWith(name));
    const numbers = own.map((text) => Number.parseInt(text.slice(2), 10));
    expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
  }
  expect(await ledger.counter('appends')).toBe(200);
  expect(await ledger.verify()).toMatchObject({ kind: 'sound', events: 201 });
});

it('keeps what was acknowledged when a writer is killed, and takes its lease over at once on the same machine', async () => {
  const url = newAddress();
  // The lease itself would last much longer.
  const task = { session: testIds.session(), run: testIds.run(), leaseMs: 3_600_000 };
  const body = `${SLOW_LINE}
    const lease = await ledger.acquire(task.session, task.run);
    const opening = { agent: 'tester', input: { role: 'user', content: [] }, origin: { kind: 'person' }, depth: 0 };
    await ledger.append({ session: task.session, fence: lease.fence, events: [{ ...event('run.started', opening), cause: null }] });
    await line(lease.fence);`;
  const victim = start(url, task, body);
  await victim.said('appended 20');
  victim.child.kill('SIGKILL');
  const { output } = await victim.ended;
  const acknowledged = output.trim().split('\n').length;
  const ledger = await open(url);
  const lease = await ledger.acquire(task.session, task.run);
  expect(lease).toMatchObject({ kind: 'acquired', takenOver: true, fence: { epoch: 2 } });
  const report = await ledger.verify();
  expect(report.kind).toBe('sound');
  const values = (await ledger.read({ session: task.session })).slice(1).map(noteText);
  expect(values).toEqual(upTo(values.length).map((index) => String(index - 1)));
  expect(values.length).toBeGreaterThanOrEqual(acknowledged);
  expect(values.length).toBeLessThanOrEqual(acknowledged + 1);
});

it('loses and doubles nothing when the server is restarted in the middle of appends', async () => {
  const url = newAddress();
  const ledger = await open(url);
  const writers = [await started(ledger), await started(ledger), await started(await open(url))];
  let stop = false;
  const done = [0, 0, 0];
  const line = async (writer: Writer, number: number): Promise<void> => {
    for (let index = 0; !stop; index += 1) {
      const appended = await writer.ledger.append({
        ...writer.request([note(writer, String(index))]),
        counters: [{ name: 'appends', add: 1 }],
      });
      expect(appended.kind).toBe('appended');
      done[number] = index + 1;
    }
  };
  const lines = writers.map(line);
  /** Every line has come some steps further. */
  const further = async (steps: number): Promise<void> => {
    const before = [...done];
    while (done.some((count, number) => count < (before[number] ?? 0) + steps))
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  for (const downMs of [0, 200]) {
    await further(5);
    await server.restart(downMs);
  }
  // A connection that is cut while the server stays: the outcome of what was sent is unknown.
  for (let cut = 0; cut < 8; cut += 1) {
    await further(1 + (cut % 3));
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'troupe writer%'");
  }
  await further(1);
  stop = true;
  await Promise.all(lines);
  const totals = done;
  for (const [number, writer] of writers.entries()) {
    const values = (await ledger.read({ session: writer.session, after: 1, limit: 100_000 })).map(noteText);
    expect(values).toEqual(upTo(totals[number] ?? 0).map((index) => String(index - 1)));
  }
  expect(await ledger.counter('appends')).toBe(totals.reduce((sum, total) => sum + total, 0));
  expect((await ledger.verify()).kind).toBe('sound');
});

it.each(['before the commit arrives', 'after the commit was made'] as const)(
  'writes once when the connection breaks %s',
  async (moment) => {
    const proxy = await startPostgresProxy(server.port);
    const ledger = await open(newAddress().replace(`:${server.port}/`, `:${proxy.port}/`));
    const writer = await started(ledger);
    for (let round = 0; round < 3; round += 1) {
      proxy.arm(moment);
      const counters = [{ name: 'appends', add: 1 }];
      const first = note(writer, `first ${round}`);
      const outcomes = await Promise.all([
        ledger.append({ ...writer.request([first]), counters }),
        ledger.append({ ...writer.request([{ ...note(writer, `second ${round}`), cause: first }]), counters }),
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'appended']);
      const late = await appendOrFail(writer, [{ ...note(writer, `third ${round}`), cause: first }]);
      expect(late[0]?.parent_event_id).toBe(writer.eventAt(round * 3 + 2));
    }
    proxy.arm(moment);
    const run = testIds.run();
    expect(await ledger.acquire(testIds.session(), run)).toMatchObject({ kind: 'acquired', fence: { run, epoch: 1 } });
    expect(proxy.hungUp()).toBe(4);
    expect(await ledger.counter('appends')).toBe(6);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', events: 10 });
    opened.splice(opened.indexOf(ledger), 1);
    await ledger.close();
    await proxy.close();
  },
);

it('does not let a process append that was paused beyond its lease', async () => {
  const url = newAddress();
  const task = { session: testIds.session(), run: testIds.run(), leaseMs: 1_000 };
  const body = `${SLOW_LINE}
    const lease = await ledger.acquire(task.session, task.run);
    const opening = { agent: 'tester', input: { role: 'user', content: [] }, origin: { kind: 'person' }, depth: 0 };
    await ledger.append({ session: task.session, fence: lease.fence, events: [{ ...event('run.started', opening), cause: null }] });
    await line(lease.fence);
    await ledger.close();`;
  const zombie = start(url, task, body);
  await zombie.said('appended 5');
  zombie.child.kill('SIGSTOP');
  const ledger = await open(url);
  let lease = await ledger.acquire(task.session, task.run);
  while (lease.kind !== 'acquired') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    lease = await ledger.acquire(task.session, task.run);
  }
  expect(lease.takenOver).toBe(true);
  const head = (await ledger.read({ session: task.session })).length;
  zombie.child.kill('SIGCONT');
  const { output } = await zombie.ended;
  expect(output).toMatch(/lease_lost \d+\n$/);
  expect((await ledger.read({ session: task.session })).length).toBe(head);
  const mine = {
    type: 'step.recorded',
    run: task.run,
    actor: 'system',
    cause: `${task.session}.1` as never,
    at: 1,
    payload: { value: 'mine' },
  } as const;
  expect((await ledger.append({ session: task.session, fence: lease.fence, events: [mine] })).kind).toBe('appended');
  expect((await ledger.verify()).kind).toBe('sound');
});

it('hears of other processes, catches up after its listening connection was lost, and does not poll', async () => {
  const url = newAddress();
  // It never looks by itself, so that it can only have heard.
  const after: Clock['after'] = (delayMs, callback, hold) =>
    delayMs === limits.safetyCheckMs ? () => undefined : systemClock.after(delayMs, callback, hold);
  const [ledger, other] = [await open(url), await open(url, { clock: { ...systemClock, after } })];
  const writer = await started(ledger);
  const [stop, calls] = [new AbortController(), { inbound: 0 }];
  const seen: number[] = [];
  let wake = (): void => undefined;
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const tailing = (async () => {
    for await (const event of other.tail(writer.session, 0, stop.signal)) {
      seen.push(event.position);
      wake();
    }
  })();
  const stopCalls = other.onInbound(writer.session, () => {
    calls.inbound += 1;
    wake();
  });
  const listener = "FROM pg_stat_activity WHERE application_name LIKE 'troupe listener%' AND query LIKE 'LISTEN%'";
  const connected = async (): Promise<void> => {
    while ((await server.query(`SELECT 1 ${listener}`)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await connected();
  await appendOrFail(writer, [note(writer, 'two')]);
  await until(() => seen.length === 2);
  const signal = { ...note(writer, ''), type: 'run.signalled', payload: { signal: 'pause' } } as const;
  await ledger.append({ session: writer.session, fence: null, events: [signal] });
  await until(() => calls.inbound === 1);
  await server.query(`SELECT pg_terminate_backend(pid) ${listener}`);
  await ledger.append({ session: writer.session, fence: null, events: [signal] });
  await until(() => calls.inbound === 2 && seen.length === 4);
  await connected();
  await ledger.append({ session: writer.session, fence: null, events: [signal] });
  await until(() => calls.inbound === 3 && seen.length === 5);
  expect(seen).toEqual(upTo(5));
  stopCalls();
  stop.abort();
  await tailing;
});

it.each([
  ['commits', 'COMMIT', false],
  ['clears away', 'VACUUM', true],
])(
  'a process that is killed as it %s has forgotten all or nothing, and the next one brings it to its end',
  async (_when, at, isGone) => {
    const url = newAddress();
    const ledger = await open(url);
    const writer = await started(ledger);
    const { session } = writer;
    await appendOrFail(writer, [note(writer, 'zebra'), writer.ending()]);
    await ledger.release(writer.fence);
    const forget = { parts: [{ session }], by: 'ana', at: 1, dryRun: false };
    const body = `
    const { default: pg } = await import(${JSON.stringify(import.meta.resolve('pg'))});
    const { query } = pg.Client.prototype;
    pg.Client.prototype.query = function (...given) {
      const text = given[0]?.text ?? given[0];
      if (String(text).startsWith(task.at)) process.kill(process.pid, 'SIGKILL');
      return query.apply(this, given);
    };
    await ledger.forget(task.forget);`;
    await start(url, { at, forget }, body).ended;
    expect((await ledger.standings()).get(session)?.forgotten ?? null).toEqual(
      isGone ? expect.objectContaining({ upTo: 3, unfinished: true }) : null,
    );
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', forgotten: isGone ? 3 : 0 });
    expect(await ledger.forget(isGone ? { ...forget, parts: [] } : forget)).toMatchObject({ kind: 'forgotten', left: [] });
    expect((await ledger.standings()).get(session)?.forgotten).toMatchObject({ upTo: 3, unfinished: false });
    const [row] = await server.query(`SELECT count(*)::int AS bodies FROM processes_${count}.payload WHERE body IS NOT NULL`);
    expect(row).toEqual({ bodies: 0 });
  },
);
