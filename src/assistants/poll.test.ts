import { expect, it } from 'vitest';
import { client, got, openFamily, polling, quietly } from '../../test/support/assistant-family.ts';

it('says after a wait all that was committed together, not its first part', async () => {
  const { root, write, ask, service, ledger } = openFamily();
  const coder = await root('coder', 'ann');
  await ask(coder);
  const waiting = got(service.poll(client('ann'), polling(coder, { wait_ms: 10_000 }), quietly));
  // The wait has begun, so both come to it through the ledger's tail.
  await new Promise((resolve) => setTimeout(resolve, 50));
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
