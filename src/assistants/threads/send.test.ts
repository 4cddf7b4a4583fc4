import { describe, expect, it } from 'vitest';
import {
  client,
  got,
  openFamily,
  quietly,
  reading,
  refusalOf,
  type TestProcess,
  withKey,
  writing,
} from '../../../test/support/assistants/family.ts';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Caller } from '../port.ts';
import { createMessageService } from './message-service.ts';

async function plant() {
  const family = openFamily();
  const lead = await family.root('lead', 'ann');
  const coder = await family.child(lead, 'coder');
  const tester = await family.child(lead, 'tester');
  const linter = await family.child(coder, 'linter');
  return { ...family, lead, coder, tester, linter };
}

const sentIn = async (ledger: Ledger, { session }: TestProcess) =>
  (await ledger.read({ session, types: ['message.sent'] })).flatMap((event) =>
    event.event_type === 'message.sent' ? [event.payload] : [],
  );

describe('a message', () => {
  it('to a process lies in its thread, one to a parent in one’s own, whichever thread was named', async () => {
    const { ledger, service, lead, coder, tester, linter } = await plant();
    const ann = client('ann');
    const table: readonly [Caller, TestProcess, string, TestProcess, string | undefined][] = [
      // caller, thread that it names, name that it gives; where the message lies, whom it is for
      [ann, lead, 'lead', lead, lead.run],
      [lead.caller, coder, 'coder', coder, coder.run],
      [lead.caller, coder, 'tester', tester, tester.run],
      [lead.caller, lead, 'coder', coder, coder.run],
      [lead.caller, lead, 'ann', lead, undefined],
      [lead.caller, coder, 'ann', lead, undefined],
      [coder.caller, coder, 'lead', coder, lead.run],
      [coder.caller, lead, 'lead', coder, lead.run],
      [coder.caller, tester, 'lead', coder, lead.run],
      [coder.caller, tester, 'tester', tester, tester.run],
      [coder.caller, coder, 'tester', tester, tester.run],
      [coder.caller, coder, 'linter', linter, linter.run],
      [linter.caller, linter, 'coder', linter, coder.run],
      [linter.caller, coder, 'coder', linter, coder.run],
    ];
    for (const [index, [caller, thread, name]] of table.entries())
      await got(service.send(caller, writing(thread, name, `message ${index}`), quietly));
    const sent = await sentIn(ledger, lead);
    for (const [index, [, , name, place, run]] of table.entries())
      expect(
        sent.find(({ content }) => content === `message ${index}`),
        `row ${index}`,
      ).toMatchObject({
        thread: place.thread,
        to: { assistant: name, ...present({ run }) },
      });
    expect(new Set(sent.map(({ fence }) => fence)).size).toBe(table.length);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    await ledger.close();
  });

  it('reaches nobody outside of the family of the thread', async () => {
    const { ledger, service, lead, coder, tester, linter } = await plant();
    const table: readonly [Caller, TestProcess, string][] = [
      [client('ann'), lead, 'coder'],
      [lead.caller, coder, 'linter'],
      [tester.caller, tester, 'linter'],
      [tester.caller, coder, 'linter'],
      [linter.caller, coder, 'lead'],
      [linter.caller, linter, 'ann'],
      [coder.caller, coder, 'coder'],
      [lead.caller, lead, 'lead'],
    ];
    for (const [caller, thread, name] of table)
      expect(await refusalOf(service.send(caller, writing(thread, name, 'hi'), quietly)), name).toBe('unknown_assistant');
    expect(await sentIn(ledger, lead)).toEqual([]);
    await ledger.close();
  });

  it('to one of several of the same name needs its thread, and the failure says which there are', async () => {
    const { ledger, service, child, end, lead, coder } = await plant();
    const second = await child(lead, 'coder');
    const third = await child(lead, 'coder');
    const outcome = await service.send(lead.caller, writing(lead, 'coder', 'hi'), quietly);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'ambiguous_assistant' } });
    for (const { thread } of [coder, second, third]) expect(JSON.stringify(outcome)).toContain(thread);
    await got(service.send(lead.caller, writing(second, 'coder', 'hi'), quietly));
    await end(second);
    await end(third);
    // Those that have ended are not meant.
    await got(service.send(lead.caller, writing(lead, 'coder', 'you then'), quietly));
    expect((await sentIn(ledger, lead)).map(({ thread }) => thread)).toEqual([second.thread, coder.thread]);
    await ledger.close();
  });

  it('to a parent and a sibling of the same name goes by the thread', async () => {
    const family = openFamily();
    const top = await family.root('same', 'ann');
    const one = await family.child(top, 'same');
    const two = await family.child(top, 'same');
    await got(family.service.send(one.caller, writing(one, 'same', 'to the parent'), quietly));
    await got(family.service.send(one.caller, writing(two, 'same', 'to the sibling'), quietly));
    await got(family.service.send(one.caller, writing(top, 'same', 'to the parent too'), quietly));
    expect((await sentIn(family.ledger, top)).map(({ thread, to }) => [thread, to.run])).toEqual([
      [one.thread, top.run],
      [two.thread, two.run],
      [one.thread, top.run],
    ]);
    await family.ledger.close();
  });

  it('crosses sessions between processes of the same client, by thread only', async () => {
    const family = openFamily();
    const one = await family.root('one', 'ann');
    const two = await family.root('two', 'ann');
    await got(family.service.send(one.caller, writing(two, 'two', 'hello'), quietly));
    expect(await sentIn(family.ledger, two)).toMatchObject([{ thread: two.thread, from: { run: one.run } }]);
    expect(await refusalOf(family.service.send(one.caller, writing(one, 'two', 'hello'), quietly))).toBe('unknown_assistant');
    // To the client: in one's own thread and session, though the other's thread was named.
    await got(family.service.send(one.caller, writing(two, 'ann', 'hello'), quietly));
    expect(await sentIn(family.ledger, one)).toMatchObject([{ thread: one.thread, to: { assistant: 'ann' } }]);
    await family.ledger.close();
  });

  it('is refused to one that has ended, when it is too long, and when the call was cancelled', async () => {
    const { ledger, service, end, lead, coder, tester } = await plant();
    await end(coder, 'failed');
    expect(await refusalOf(service.send(lead.caller, writing(coder, 'coder', 'hi'), quietly))).toBe('ended');
    expect(await refusalOf(service.send(lead.caller, writing(lead, 'coder', 'hi'), quietly))).toBe('ended');
    const long = 'é'.repeat(limits.messageBytes / 2);
    await got(service.send(lead.caller, writing(tester, 'tester', long), quietly));
    expect(await refusalOf(service.send(lead.caller, writing(tester, 'tester', `${long}.`), quietly))).toBe('message_too_long');
    const signal = AbortSignal.abort();
    expect(await refusalOf(service.send(lead.caller, writing(tester, 'tester', 'hi'), { signal }))).toBe('cancelled');
    expect(await sentIn(ledger, lead)).toHaveLength(1);
    await ledger.close();
  });

  it('is sent once per key: by calls at once, after a crash, and also when its reader has ended meanwhile', async () => {
    const { ledger, service, end, lead, coder, tester } = await plant();
    const call = () => service.send(lead.caller, writing(coder, 'coder', 'once'), withKey('turn/1/tool/0'));
    expect(await Promise.all([call(), call(), call()])).toEqual(Array(3).fill({ ok: true, value: { success: true } }));
    // Another life of the caller: nothing in memory.
    const again = createMessageService({ ledger, clock: systemClock, ids: { nonce: () => 'other' } });
    await end(coder);
    await got(again.send(lead.caller, writing(coder, 'coder', 'once'), withKey('turn/1/tool/0')));
    expect(await sentIn(ledger, lead)).toHaveLength(1);
    // The key of another caller is another key.
    await got(again.send(tester.caller, writing(tester, 'lead', 'mine'), withKey('turn/1/tool/0')));
    expect(await sentIn(ledger, lead)).toHaveLength(2);
    await ledger.close();
  });

  it('survives that the sender dies right after the commit: the repetition finds it sent', async () => {
    const { ledger, lead, coder } = await plant();
    const dying: Ledger = {
      ...ledger,
      append: async (request) => {
        await ledger.append(request);
        throw new Error('killed');
      },
    };
    const ids = { nonce: () => 'word' };
    const first = createMessageService({ ledger: dying, clock: systemClock, ids });
    await expect(first.send(lead.caller, writing(coder, 'coder', 'once'), withKey('k'))).rejects.toThrow('killed');
    const second = createMessageService({ ledger, clock: systemClock, ids });
    await got(second.send(lead.caller, writing(coder, 'coder', 'once'), withKey('k')));
    const { messages } = await got(second.receive(coder.caller, reading(coder), quietly));
    expect(messages.map(({ content }) => content)).toEqual(['once']);
    await ledger.close();
  });
});
