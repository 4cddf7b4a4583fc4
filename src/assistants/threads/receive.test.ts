import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  client,
  got,
  openFamily,
  quietly,
  reading,
  type TestFamily,
  type TestProcess,
  withKey,
  writing,
} from '../../../test/support/assistants/family.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../../base/clock.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import type { ReceiveInput } from '../../tools/assistants/schemas.ts';
import { createMessageService } from './message-service.ts';

const ann = client('ann');

async function plant(options: Parameters<typeof openFamily>[0] = {}): Promise<TestFamily & { readonly coder: TestProcess }> {
  const family = openFamily(options);
  const coder = await family.root('coder', 'ann');
  return { ...family, coder };
}

const fill = async (service: TestFamily['service'], coder: TestProcess, count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1)
    await got(service.send(coder.caller, writing(coder, 'ann', `note ${index}`), quietly));
};

describe('what a reader gets', () => {
  it('is filtered by unread, since and the last n, in the order in which it was sent', async () => {
    const clock = createVirtualClock(1_000_000);
    const after = (milliseconds: number): void => {
      clock.after(milliseconds, () => undefined);
      clock.advance();
    };
    const family = openFamily({ clock });
    const coder = await family.root('coder', 'ann');
    const times: number[] = [];
    for (const [index, caller] of [coder.caller, ann, coder.caller, ann, coder.caller].entries()) {
      after(1_000);
      times.push(clock.now());
      await got(family.service.send(caller, writing(coder, caller === ann ? 'coder' : 'ann', String(index)), quietly));
    }
    await got(family.service.receive(ann, reading(coder, { last_n: 1, mark_as_read: true }), quietly));
    const since = times[1];
    const table: readonly [Partial<ReceiveInput>, string][] = [
      [{}, '01234'],
      [{ last_n: 2 }, '34'],
      [{ since }, '234'],
      [{ since, last_n: 1 }, '4'],
      [{ since: times[4] }, ''],
      [{ unread_only: true }, '02'],
      [{ unread_only: true, last_n: 1 }, '2'],
      [{ unread_only: true, since: times[0] }, '2'],
      [{ last_n: 200, since: 0 }, '01234'],
    ];
    for (const [filter, expected] of table) {
      const { messages, summary, thread_id } = await got(family.service.receive(ann, reading(coder, filter), quietly));
      expect(messages.map(({ content }) => content).join(''), JSON.stringify(filter)).toBe(expected);
      expect(summary).toEqual({ total_fetched: expected.length, marked_as_read: 0 });
      expect(thread_id).toBe(coder.thread);
    }
    const { messages } = await got(family.service.receive(ann, reading(coder), quietly));
    expect(messages[4]).toEqual({
      id: expect.any(String),
      from_assistant_id: 'coder',
      to_assistant_id: 'ann',
      content: '4',
      created_at: times[4],
      read_at: clock.now(),
    });
    await family.ledger.close();
  });

  it('is marked as read only where it was sent to the reader, once, and says so', async () => {
    const { ledger, service, coder, end } = await plant();
    await fill(service, coder, 3);
    await got(service.send(ann, writing(coder, 'coder', 'for you'), quietly));
    await end(coder);
    // A thread stays readable after its process has ended.
    const first = await got(service.receive(ann, reading(coder, { mark_as_read: true }), quietly));
    expect(first.summary).toEqual({ total_fetched: 4, marked_as_read: 3 });
    expect(first.messages.map(({ read_at }) => read_at !== null)).toEqual([true, true, true, false]);
    const second = await got(service.receive(ann, reading(coder, { mark_as_read: true }), quietly));
    expect(second.summary).toEqual({ total_fetched: 4, marked_as_read: 0 });
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    await ledger.close();
  });

  it('counts as read from the moment a model request contains it', async () => {
    const { ledger, service, coder, write } = await plant();
    await got(service.send(ann, writing(coder, 'coder', 'hello'), quietly));
    const [message] = (await got(service.receive(ann, reading(coder), quietly))).messages;
    const payload = { message: message?.id ?? '', thread: coder.thread, reader: coder.run, request: 'turn/2/model' };
    await write(coder, { type: 'message.included', payload });
    const { messages, summary } = await got(
      service.receive(coder.caller, reading(coder, { unread_only: true, mark_as_read: true }), quietly),
    );
    expect([messages, summary.marked_as_read]).toEqual([[], 0]);
    expect((await got(service.receive(ann, reading(coder), quietly))).messages[0]?.read_at).not.toBeNull();
    await ledger.close();
  });

  it('comes again when the answer was lost on the way, and is marked by that call', async () => {
    const { ledger, service, coder } = await plant();
    await fill(service, coder, 3);
    const read = () => service.receive(ann, reading(coder, { unread_only: true, mark_as_read: true }), withKey('k'));
    const lost = await got(read());
    const other = createMessageService({ ledger, clock: systemClock, ids: testIds });
    await fill(service, coder, 1);
    const again = await got(other.receive(ann, reading(coder, { unread_only: true, mark_as_read: true }), withKey('k')));
    expect(again.messages.slice(0, 3)).toEqual(lost.messages);
    expect(again.summary).toEqual({ total_fetched: 4, marked_as_read: 4 });
    // Nor does the repetition wait for what it has found already.
    const patient = reading(coder, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
    expect((await got(other.receive(ann, patient, withKey('k')))).messages).toHaveLength(4);
    const next = await got(other.receive(ann, reading(coder, { unread_only: true, mark_as_read: true }), withKey('next')));
    expect(next.messages).toEqual([]);
    await ledger.close();
  });

  it('fits its description whatever is asked', async () => {
    const { ledger, service, coder } = await plant();
    await fill(service, coder, 30);
    const inputs = fc.record({
      unread_only: fc.boolean(),
      last_n: fc.integer({ min: 1, max: 200 }),
      since: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
      mark_as_read: fc.boolean(),
    });
    let unread = 30;
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        const { messages, summary } = await got(service.receive(ann, reading(coder, input), quietly));
        expect(messages.length).toBeLessThanOrEqual(input.last_n);
        expect(summary.total_fetched).toBe(messages.length);
        expect(messages.every(({ created_at }) => input.since === undefined || created_at > input.since)).toBe(true);
        unread -= summary.marked_as_read;
        expect(unread).toBeGreaterThanOrEqual(0);
        const order = messages.map(({ content }) => Number(content.slice(5)));
        expect(order).toEqual([...order].sort((left, right) => left - right));
      }),
    );
    await ledger.close();
  });
});

describe('two readers at once', () => {
  it('mark each message once, with separate views of one file', async () => {
    const path = join(testFolder(), 'ledger.db');
    const { ledger, service, coder } = await plant({ path });
    await fill(service, coder, 150);
    const other = openTestLedger({ path });
    const second = createMessageService({ ledger: other, clock: systemClock, ids: testIds });
    const input = reading(coder, { unread_only: true, last_n: 200, mark_as_read: true });
    const answers = await Promise.all([service, second, service, second].map((one) => got(one.receive(ann, input, quietly))));
    expect(answers.reduce((sum, { summary }) => sum + summary.marked_as_read, 0)).toBe(150);
    expect(await ledger.read({ session: coder.session, types: ['message.read'] })).toHaveLength(150);
    for (const { messages } of answers) expect(messages.every(({ read_at }) => read_at !== null)).toBe(true);
    await other.close();
    await ledger.close();
  });

  it('mark each message once in two real processes', async () => {
    const path = join(testFolder(), 'ledger.db');
    const { ledger, service, coder } = await plant({ path });
    await fill(service, coder, 150);
    const outputs = await Promise.all([0, 1].map(() => readInProcess(path, coder.thread)));
    expect(outputs.flat().length).toBe(150);
    expect(new Set(outputs.flat()).size).toBe(150);
    expect(await ledger.read({ session: coder.session, types: ['message.read'] })).toHaveLength(150);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    await ledger.close();
  });
});

/** Reads the thread ten at a time until nothing is left; the ids that it marked itself, by the marks it left. */
async function readInProcess(path: string, thread: string): Promise<string[]> {
  const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const program = `
    const { openSqliteLedger } = await import(${source('../../ledger/sqlite/store.ts')});
    const { createMessageService } = await import(${source('./message-service.ts')});
    const { systemClock } = await import(${source('../../base/clock.ts')});
    let word = 0;
    const ids = { nonce: () => process.pid + '-' + (word += 1) };
    const ledger = openSqliteLedger({ path: ${JSON.stringify(path)}, clock: systemClock, ids });
    const service = createMessageService({ ledger, clock: systemClock, ids });
    const call = { signal: new AbortController().signal };
    const input = { thread_id: ${JSON.stringify(thread)}, unread_only: true, last_n: 10, mark_as_read: true, wait_ms: 0 };
    let marked = 0;
    for (let round = 0; round < 1000; round += 1) {
      const answer = await service.receive({ kind: 'client', name: 'ann' }, input, call);
      if (!answer.ok) throw new Error(answer.error.message);
      marked += answer.value.summary.marked_as_read;
      if (answer.value.messages.length === 0) break;
    }
    const [row] = await ledger.runs({ limit: 1 });
    const events = await ledger.read({ session: row.session, types: ['message.read'] });
    const mine = events.filter((event) => event.step.startsWith('read/' + process.pid + '-')).map((event) => event.payload.message);
    if (mine.length !== marked) throw new Error('it counted ' + marked + ' and left ' + mine.length);
    process.stdout.write(JSON.stringify(mine));
    await ledger.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return JSON.parse(output);
}
