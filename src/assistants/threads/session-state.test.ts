import fc from 'fast-check';
import { expect, it } from 'vitest';
import { client, got, openFamily, polling, quietly, reading, writing } from '../../../test/support/assistants/family.ts';
import { openTestLedger, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger, NewEvent } from '../../ledger/port.ts';
import { createMessageService } from './message-service.ts';

const ann = client('ann');

it('is the same whether it was followed all along or is read at the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('ask', 'tell', 'report', 'read', 'host', 'poll', 'wait'), { maxLength: 25 }),
      async (steps) => {
        const family = openFamily();
        const lead = await family.root('lead', 'ann');
        const coder = await family.child(lead, 'coder');
        const waits: Promise<unknown>[] = [];
        const stop = new AbortController();
        for (const [index, step] of steps.entries()) {
          if (step === 'ask') await family.ask(index % 2 === 0 ? coder : lead);
          if (step === 'tell') await got(family.service.send(lead.caller, writing(coder, 'coder', `do ${index}`), quietly));
          if (step === 'report') await got(family.service.send(coder.caller, writing(coder, 'lead', `did ${index}`), quietly));
          if (step === 'read')
            await got(family.service.receive(lead.caller, reading(coder, { last_n: 2, mark_as_read: true }), quietly));
          if (step === 'host') await family.write(coder, { type: 'process.started', payload: { pid: index + 1, attempt: 1 } });
          if (step === 'poll') await got(family.service.poll(lead.caller, polling(coder), quietly));
          if (step === 'wait') waits.push(family.service.poll(ann, polling(lead, { wait_ms: 60_000 }), { signal: stop.signal }));
        }
        const cold = createMessageService({ ledger: family.ledger, clock: systemClock, ids: testIds });
        const view = async (service: typeof cold) => [
          await service.poll(lead.caller, polling(coder), quietly),
          await service.poll(coder.caller, polling(coder), quietly),
          await service.receive(lead.caller, reading(coder, { last_n: 200 }), quietly),
        ];
        expect(await view(family.service)).toEqual(await view(cold));
        stop.abort();
        await Promise.all(waits);
        await family.ledger.close();
      },
    ),
    { numRuns: 30 },
  );
});

it('costs what is new: a poll reads nothing twice, and reading from the start reads everything once', async () => {
  const ledger = openTestLedger({ path: ':memory:', clock: systemClock });
  let seen = 0;
  const read: Ledger['read'] = async (query) => {
    const page = await ledger.read(query);
    seen += page.length;
    return page;
  };
  const family = openFamily({ ledger: { ...ledger, read } });
  const coder = await family.root('coder', 'ann');
  const fill = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, (): NewEvent => {
      const id = testIds.nonce();
      const payload = {
        message: id,
        thread: coder.thread,
        from: { assistant: 'ann' },
        to: { assistant: 'coder', run: coder.run },
        content: 'hello',
        fence: 'word',
      };
      return { type: 'message.sent', run: coder.run, actor: 'user', cause: coder.started, step: `message/${id}`, payload, at: 1 };
    });
    for (let from = 0; from < count; from += 1_000)
      await family.ledger.append({ session: coder.session, fence: null, events: events.slice(from, from + 1_000) });
  };
  const readBy = async (act: () => Promise<unknown>): Promise<number> => {
    const before = seen;
    await act();
    return seen - before;
  };
  const coldPoll = (): Promise<number> =>
    readBy(() =>
      got(createMessageService({ ledger: family.ledger, clock: systemClock, ids: testIds }).poll(ann, polling(coder), quietly)),
    );
  /** The start of the run, and what a poll looks up beside the thread. */
  const beside = 10;

  await fill(1_000);
  expect(await coldPoll()).toBeLessThanOrEqual(1_000 + beside);
  await fill(limits.messagesPerThread - 1_000);
  const whole = await coldPoll();
  expect(whole).toBeGreaterThanOrEqual(limits.messagesPerThread);
  expect(whole).toBeLessThanOrEqual(limits.messagesPerThread + beside);

  await got(family.service.poll(ann, polling(coder), quietly));
  const polls = await readBy(async () => {
    for (let index = 0; index < 50; index += 1) await family.service.poll(ann, polling(coder), quietly);
  });
  expect(polls / 50).toBeLessThanOrEqual(beside);
  const full = await family.service.send(ann, writing(coder, 'coder', 'one too many'), quietly);
  expect(full).toMatchObject({
    ok: false,
    error: { code: 'thread_full', message: expect.stringContaining('messagesPerThread') },
  });
  await family.ledger.close();
});

it('forgets sessions that nobody asked about, and knows them again when somebody does', async () => {
  const family = openFamily();
  const roots = [];
  for (let index = 0; index < limits.messageSessionsKept + 5; index += 1) roots.push(await family.root(`agent-${index}`, 'ann'));
  for (const root of roots) await got(family.service.send(ann, writing(root, root.agent, 'hi'), quietly));
  for (const root of roots)
    expect((await got(family.service.poll(ann, polling(root), quietly))).message_summary?.total_messages).toBe(1);
  await family.ledger.close();
});
