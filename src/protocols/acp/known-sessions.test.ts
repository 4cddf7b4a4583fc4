/** The list of sessions that an editor shows. */
import { expect, it } from 'vitest';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import { listSessions } from './known-sessions.ts';

it('has the others when one of them was forgotten', async () => {
  const world = createWorld({ brain: () => says('Done.'), agents: [agent({ tools: [], permissions: {} })] });
  const begun = async (words: string) => {
    const started = await world.engine.start({ agent: 'worker', input: userText(words), workspace: '/project' });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    await started.handle.done;
    return started.handle.session;
  };
  const [one, two] = [await begun('One.'), await begun('Two.')];
  const parts = [{ session: one }];
  expect(await world.ledger.forget({ parts, by: 'ana', at: 1, dryRun: false })).toMatchObject({ kind: 'forgotten' });
  const { sessions } = await listSessions(world, undefined, undefined);
  expect(sessions).toMatchObject([{ sessionId: two, title: 'Two.' }]);
  await world.close();
});
