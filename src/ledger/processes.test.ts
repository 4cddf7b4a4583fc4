/** Several real processes on one ledger file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { givenRun, note, noteText } from '../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/** Runs `body` in a process of its own, with an open ledger and the task it was given. */
function startProcess(path: string, task: object, body: string) {
  const program = `
    const { openSqliteLedger } = await import(${source('./sqlite/store.ts')});
    const { systemClock } = await import(${source('../base/clock.ts')});
    const task = ${JSON.stringify(task)};
    const ids = { nonce: () => 'child' + process.pid };
    const ledger = openSqliteLedger({ path: ${JSON.stringify(path)}, clock: systemClock, ids });
    const common = { run: task.run, actor: 'system', cause: task.session + '.1', at: systemClock.now() };
    const event = (type, payload) => ({ ...common, type, payload });
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
}

it('gives gap-free positions to two processes that append to one session at once', async () => {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const body = `
    for (let index = 0; index < 300; index += 1) {
      const append = (text) => ledger.append({ session: task.session, fence: task.fence,
        events: [event('step.recorded', { value: task.name + ' ' + text })], counters: [{ name: 'appends', add: 1 }] });
      await (index % 3 === 0 ? Promise.all([append(index), append(index + '+')]) : append(index));
    }
    await ledger.close();`;
  const task = { session: writer.session, run: writer.run, fence: writer.fence };
  const ended = await Promise.all(['a', 'b'].map((name) => startProcess(path, { ...task, name }, body).ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const events = await ledger.read({ session: writer.session });
  expect(events.map((event) => event.position)).toEqual(Array.from({ length: 801 }, (_, index) => index + 1));
  const ofA = events
    .slice(1)
    .map(noteText)
    .filter((text) => text.startsWith('a'));
  expect(ofA.map((text) => Number.parseInt(text.slice(2), 10))).toEqual(
    [...ofA.keys()].map((index) => Math.floor((index * 3) / 4)),
  );
  expect(await ledger.counter('appends')).toBe(800);
  expect(await ledger.verify()).toMatchObject({ kind: 'sound', events: 801 });
  await ledger.close();
});

it('hears the doorbell and tails the events of another process', async () => {
  const path = join(testFolder(), 'ledger.db');
  // It never looks by itself, so that it can only have heard.
  const after: Clock['after'] = (delayMs, callback, hold) =>
    delayMs < limits.safetyCheckMs ? systemClock.after(delayMs, callback, hold) : () => undefined;
  const ledger = openTestLedger({ path, clock: { ...systemClock, after } });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const rung = new Promise<void>((resolve) => {
    ledger.onInbound(writer.session, resolve);
  });
  const stop = new AbortController();
  const tailed = (async () => {
    for await (const event of ledger.tail(writer.session, 1, stop.signal)) return event.event_type;
    return undefined;
  })();
  const body = `
    await ledger.append({ session: task.session, fence: null, events: [event('run.signalled', { signal: 'pause' })] });
    await ledger.close();`;
  const other = startProcess(path, { session: writer.session, run: writer.run }, body);
  await rung;
  expect(await tailed).toBe('run.signalled');
  stop.abort();
  await other.ended;
  await ledger.close();
});

it('keeps what was acknowledged when the writer is killed, and takes its lease over', async () => {
  const path = join(testFolder(), 'ledger.db');
  const task = { session: testIds.session(), run: testIds.run() };
  const body = `
    const lease = await ledger.acquire(task.session, task.run);
    const opening = { agent: 'tester', input: { role: 'user', content: [] }, origin: { kind: 'person' }, depth: 0 };
    const append = (event) => ledger.append({ session: task.session, fence: lease.fence, events: [event] });
    await append({ ...event('run.started', opening), cause: null });
    for (let index = 2; ; index += 1) {
      await append(event('step.recorded', { value: String(index) }));
      process.stdout.write(index + '\\n');
    }`;
  const victim = startProcess(path, task, body);
  await once(victim.child.stdout, 'data');
  victim.child.kill('SIGKILL');
  const { output } = await victim.ended;
  const acknowledged = Number(output.trim().split('\n').at(-1));
  const ledger = openTestLedger({ path });
  const { kind, events } = { events: 0, ...(await ledger.verify()) };
  expect(kind).toBe('sound');
  expect(events).toBeGreaterThanOrEqual(acknowledged);
  const lease = await ledger.acquire(task.session, task.run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  expect(lease.takenOver).toBe(true);
  await ledger.close();
});

it('tells a process that was taken over that it lost its lease', async () => {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  await ledger.release(writer.fence);
  const task = { session: writer.session, run: writer.run };
  const body = `
    const lease = await ledger.acquire(task.session, task.run);
    process.stdout.write(lease.kind + ' ' + lease.fence.epoch);
    await ledger.close();`;
  expect((await startProcess(path, task, body).ended).output).toBe('acquired 2');
  expect((await ledger.append(writer.request([note(writer, 'stale')]))).kind).toBe('lease_lost');
  await ledger.close();
});

it('is made by one of several processes that open it at the same moment, and the others find it', async () => {
  const folder = testFolder();
  const body = `
    const { appendFileSync, existsSync } = await import('node:fs');
    for (let index = 0; index < 150; index += 1) {
      const next = task.folder + '/' + index;
      appendFileSync(next + '.' + task.name, '');
      while (!task.names.every((name) => existsSync(next + '.' + name)));
      const made = openSqliteLedger({ path: next + '.db', clock: systemClock, ids });
      await made.runs({});
      await made.close();
    }
    await ledger.close();`;
  const names = ['a', 'b'];
  const processes = names.map((name) => startProcess(join(folder, 'ledger.db'), { name, names, folder }, body));
  // Whoever is left alone would wait for the other for ever.
  const ended = processes.map(async ({ ended: end }) => {
    const { code } = await end;
    if (code !== 0) for (const { child } of processes) child.kill('SIGKILL');
    return code;
  });
  expect(await Promise.all(ended)).toEqual([0, 0]);
});
