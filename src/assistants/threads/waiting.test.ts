import { describe, expect, it } from 'vitest';
import {
  client,
  got,
  openFamily,
  polling,
  quietly,
  reading,
  refusalOf,
  writing,
} from '../../../test/support/assistants/family.ts';
import { openTestLedger } from '../../../test/support/ledger/sqlite-folder.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';

const ann = client('ann');
const LONG = limits.assistantWaitMs;

/** Lets everything happen that is under way, without time passing. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a call that waits', () => {
  it('returns as soon as a message to the caller arrives, and not for one to somebody else', async () => {
    const family = openFamily();
    const coder = await family.root('coder', 'ann');
    const helper = await family.child(coder, 'helper');
    await family.ask(coder);
    let answered = 0;
    const count = <Value>(value: Value): Value => {
      answered += 1;
      return value;
    };
    const poll = got(family.service.poll(ann, polling(coder, { wait_ms: LONG }), quietly)).then(count);
    const read = got(family.service.receive(ann, reading(coder, { wait_ms: LONG }), quietly)).then(count);
    await settled();
    await got(family.service.send(ann, writing(coder, 'coder', 'not for me'), quietly));
    await got(family.service.send(helper.caller, writing(helper, 'coder', 'not for me either'), quietly));
    await settled();
    expect(answered).toBe(0);
    await got(family.service.send(coder.caller, writing(coder, 'ann', 'for you'), quietly));
    expect((await poll).message_summary).toMatchObject({ total_messages: 2, unread_messages: 1 });
    expect((await read).messages.map(({ content }) => content)).toEqual(['not for me', 'for you']);
    await family.ledger.close();
  });

  it('waits for news since the last poll: what was told already does not end it, read or not', async () => {
    const family = openFamily();
    const coder = await family.root('coder', 'ann');
    await family.ask(coder);
    const say = (text: string) => got(family.service.send(coder.caller, writing(coder, 'ann', text), quietly));
    const poll = () => got(family.service.poll(ann, polling(coder, { wait_ms: LONG }), quietly));
    await say('one');
    // Nobody has told it of the first yet.
    expect((await poll()).message_summary?.unread_messages).toBe(1);
    let answered = false;
    const second = poll().finally(() => {
      answered = true;
    });
    await settled();
    expect(answered).toBe(false);
    await say('two');
    expect((await second).message_summary?.unread_messages).toBe(2);
    // Reading is no news; another message is, though as many are unread as before.
    await got(family.service.receive(ann, reading(coder, { mark_as_read: true, unread_only: true, last_n: 1 }), quietly));
    const third = poll();
    await say('three');
    expect((await third).message_summary?.unread_messages).toBe(2);
    await family.ledger.close();
  });

  it('returns as soon as the process changes its status, and at once when it has ended', async () => {
    const family = openFamily();
    const coder = await family.root('coder', 'ann');
    const poll = () => got(family.service.poll(ann, polling(coder, { wait_ms: LONG }), quietly));
    const first = poll();
    await settled();
    await family.write(coder, { type: 'process.started', payload: { pid: 7, attempt: 1 } });
    expect((await first).process.status).toBe('running');
    const second = poll();
    const read = got(family.service.receive(ann, reading(coder, { wait_ms: LONG }), quietly));
    await settled();
    await family.end(coder, 'cancelled');
    expect((await second).process).toMatchObject({ status: 'failed', exit_code: 130, finished_at: expect.any(Number) });
    expect((await read).messages).toEqual([]);
    expect((await poll()).process.status).toBe('failed');
    expect((await got(family.service.receive(ann, reading(coder, { wait_ms: LONG }), quietly))).messages).toEqual([]);
    await family.ledger.close();
  });

  it('says how things stand when the time is over, and tells on the way that it waits', async () => {
    const clock = createVirtualClock(1_000_000);
    // The ledger has a time of its own: only the wait is virtual.
    const family = openFamily({ clock, ledger: openTestLedger({ path: ':memory:' }) });
    const coder = await family.root('coder', 'ann');
    const ticks: number[] = [];
    const options = { ...quietly, onProgress: ({ done }: { readonly done: number }) => void ticks.push(done) };
    const poll = got(family.service.poll(ann, polling(coder, { wait_ms: 3_500 }), options));
    await settled();
    for (let turn = 0; turn < 10 && clock.advance(); turn += 1) await settled();
    expect((await poll).process.status).toBe('starting');
    expect(ticks).toEqual([1_000, 2_000, 3_000]);
    expect(clock.advance()).toBe(false);
    await family.ledger.close();
  });

  it('is given up when it is cancelled', async () => {
    const family = openFamily();
    const coder = await family.root('coder', 'ann');
    const stop = new AbortController();
    const calls = [
      family.service.poll(ann, polling(coder, { wait_ms: LONG }), { signal: stop.signal }),
      family.service.receive(ann, reading(coder, { wait_ms: LONG }), { signal: stop.signal }),
    ];
    await settled();
    stop.abort();
    expect(await Promise.all(calls.map(refusalOf))).toEqual(['cancelled', 'cancelled']);
    expect(await refusalOf(family.service.poll(ann, polling(coder), { signal: stop.signal }))).toBe('cancelled');
    await family.ledger.close();
  });

  it('fails by name when the ledger is closed meanwhile', async () => {
    const family = openFamily();
    const coder = await family.root('coder', 'ann');
    const poll = family.service.poll(ann, polling(coder, { wait_ms: LONG }), quietly);
    await settled();
    await family.ledger.close();
    expect(await refusalOf(poll)).toBe('ledger_closed');
  });
});

describe('a process that nobody drives', () => {
  it('is reported to whoever can take it up, and not while it is driven or when it has ended', async () => {
    const idle: RunId[] = [];
    const family = openFamily({ onIdle: (run) => void idle.push(run) });
    const coder = await family.root('coder', 'ann');
    const helper = await family.child(coder, 'helper');
    await got(family.service.send(ann, writing(coder, 'coder', 'hi'), quietly));
    expect(idle).toEqual([]);
    await family.ledger.release(coder.fence);
    await got(family.service.send(ann, writing(coder, 'coder', 'hi'), quietly));
    await got(family.service.poll(coder.caller, polling(helper), quietly));
    expect(idle).toEqual([coder.run, helper.run]);
    // Asked again at once: looked at a moment ago.
    await got(family.service.poll(coder.caller, polling(helper), quietly));
    expect(idle).toHaveLength(2);
    const lease = await family.ledger.acquire(coder.session, coder.run);
    if (lease.kind !== 'acquired') throw new Error(lease.kind);
    await family.end({ ...coder, fence: lease.fence });
    await family.ledger.release(lease.fence);
    await got(family.service.receive(ann, reading(coder), quietly));
    expect(idle).toHaveLength(2);
    await family.ledger.close();
  });
});
