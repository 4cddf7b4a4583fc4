/** Sessions that were imported: what would go on in them is refused with why, and all others are as they were. */
import { expect, it } from 'vitest';
import { codexFixture, importWorld } from '../../test/support/transcripts/fixtures.ts';
import { agent, createWorld, says } from '../../test/support/world.ts';
import { userText } from '../events/messages.ts';

it('is closed for whatever would go on, and open for a run of our own', async () => {
  const { ledger, take } = importWorld();
  const { session } = await take(codexFixture());
  const [row] = await ledger.runs({ session, roots: true, limit: 1 });
  const run = row?.run;
  if (run === undefined) throw new Error('nothing was imported');
  const world = createWorld({ ledger, agents: [agent({ name: 'helper' })], brain: () => says('Done.') });
  const { engine } = world;
  const refused = { kind: 'refused', error: { code: 'imported', message: expect.stringContaining('imported from Codex') } };
  expect(await engine.start({ agent: 'helper', input: userText('More'), workspace: '/', session })).toMatchObject(refused);
  expect(await engine.resume(run)).toMatchObject(refused);
  expect(await engine.withdraw(run)).toMatchObject(refused);
  expect(await engine.fork({ run })).toMatchObject(refused);
  const closed = { code: 'imported', message: expect.stringContaining('imported from Codex') };
  await expect(engine.cancel(run, 'enough')).rejects.toMatchObject(closed);
  await expect(engine.pause(run, 'wait')).rejects.toMatchObject(closed);
  await expect(engine.send(run, 'Hello')).rejects.toMatchObject(closed);
  await expect(engine.answer(run, 'turn/1/ask', { kind: 'text', text: 'yes' })).rejects.toMatchObject(closed);
  const own = await engine.start({ agent: 'helper', input: userText('Hello'), workspace: '/' });
  expect(own).toMatchObject({ kind: 'started' });
  if (own.kind === 'started') expect(await own.handle.done).toMatchObject({ kind: 'ended' });
  await world.close();
});
