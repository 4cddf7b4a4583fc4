import { expect, it } from 'vitest';
import { client, got, openFamily, polling, quietly } from '../../../test/support/assistants/family.ts';
import { type Clock, systemClock } from '../../base/clock.ts';

const WAIT_MS = 10_000;

it('says after a wait all that was committed together, not its first part', async () => {
  const begun = Promise.withResolvers<void>();
  const after: Clock['after'] = (delayMs, ...rest) => {
    // The wait and the ledger's tail are set up in one go.
    if (delayMs === WAIT_MS) begun.resolve();
    return systemClock.after(delayMs, ...rest);
  };
  const { root, write, ask, service, ledger } = openFamily({ clock: { ...systemClock, after } });
  const coder = await root('coder', 'ann');
  await ask(coder);
  const waiting = got(service.poll(client('ann'), polling(coder, { wait_ms: WAIT_MS }), quietly));
  // The wait has begun, so both come to it through the ledger's tail.
  await begun.promise;
  const from = { assistant: 'coder', run: coder.run };
  const report = { message: 'report', thread: coder.thread, from, to: { assistant: 'ann' }, content: 'Done.', fence: 'x' };
  await write(
    coder,
    { type: 'message.sent', payload: { ...report, kind: 'report' }, step: 'message/report' },
    {
      type: 'run.ended',
      payload: {
        status: 'completed',
        report: { format: 'text', body: 'Done.' },
        finalAgent: 'coder',
        verification: { state: 'unchecked' },
      },
    },
  );
  expect(await waiting).toMatchObject({ process: { status: 'finished', exit_code: 0 }, message_summary: { unread_messages: 1 } });
  await ledger.close();
});
