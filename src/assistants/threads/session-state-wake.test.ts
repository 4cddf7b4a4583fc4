import { expect, it } from 'vitest';
import { client, got, openFamily, polling, quietly, reading, writing } from '../../../test/support/assistants/family.ts';
import { openTestLedger } from '../../../test/support/ledger/sqlite-folder.ts';

it('wakes who waits also when somebody else was the first to read what is new', async () => {
  const ledger = openTestLedger({ path: ':memory:' });
  // A tail that is late: what is new comes with the next look of anybody.
  const late = async function* (_session: unknown, _after: unknown, signal: AbortSignal) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    yield* [];
  };
  const family = openFamily({ ledger: { ...ledger, tail: late } });
  const lead = await family.root('lead', 'ann');
  const coder = await family.child(lead, 'coder');
  const waiting = family.service.receive(coder.caller, reading(coder, { unread_only: true, wait_ms: 60_000 }), quietly);
  await got(family.service.send(lead.caller, writing(coder, 'coder', 'the second table'), quietly));
  await got(family.service.poll(client('ann'), polling(lead), quietly));
  expect((await got(waiting)).messages).toMatchObject([{ content: 'the second table' }]);
  await ledger.close();
});
