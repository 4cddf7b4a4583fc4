/** Who stands still for a provider and who ends, who tells how a run ended, and what a refusal leaves behind. */
import { expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, calls, reports, turnOf } from '../../../test/support/world.ts';
import { fail, ok } from '../../base/result.ts';
import { foldSession, readEvents } from '../../ledger/pages.ts';
import type { ModelOutcome } from '../../models/port.ts';
import { createTreesDoings } from '../../projections/doings.ts';
import { foldRunTree, initialRunTree, subtreeDoings } from '../../projections/run-tree.ts';

const created = keptWorlds();
const alone = agent({ maxRetries: 0 });
const down: ModelOutcome = { kind: 'failed', error: { kind: 'network', message: 'nobody answers' } };
const refused: ModelOutcome = { kind: 'failed', error: { kind: 'invalid_request', message: 'no such thing' } };

it.each([{ kind: 'group' } as const, { kind: 'client', by: 'somebody' } as const])(
  'a run for a $kind ends where one for a person is parked, and its session is free',
  async (origin) => {
    const world = created({ agents: [alone], brain: () => down });
    const handle = await start(world, { origin });
    expect(await handle.done).toMatchObject({ kind: 'ended', result: { status: 'failed', error: { code: 'model_network' } } });
    expect(await (await start(world, { session: handle.session })).done).toMatchObject({ kind: 'parked' });
  },
);

it('a run that ended twice is told by its last end', async () => {
  let outcome: ModelOutcome = refused;
  const world = created({ agents: [alone], brain: () => outcome });
  const handle = await start(world);
  expect(await resultOf(handle)).toMatchObject({ status: 'failed' });
  outcome = reports('Done after all.');
  const resumed = await world.engine.resume(handle.run, { model: 'test/other' });
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
  expect(await world.engine.resume(handle.run)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
});

it('a run that cannot go on for want of a key is refused and left to whoever has one', async () => {
  let isOpen = true;
  let outcome: ModelOutcome = down;
  const open = async (id: string) =>
    isOpen ? ok({ id, account: id, ask: async () => outcome }) : fail({ kind: 'auth' as const, message: 'There is no key.' });
  const world = created({ agents: [alone], brain: () => outcome, engineOptions: { models: { open } } });
  const handle = await start(world);
  expect(await handle.done).toMatchObject({ kind: 'parked' });
  isOpen = false;
  expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'refused', error: { message: 'There is no key.' } });
  expect(await world.ledger.runs({ run: handle.run })).toMatchObject([{ state: 'parked', owner: null }]);
  isOpen = true;
  outcome = reports('Done.');
  const resumed = await world.engine.resume(handle.run, {});
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
});

it('a call of an agent that went on is one call, however often it was taken up', async () => {
  let isDown = true;
  const helps = calls({ name: 'helper', input: { prompt: 'help', reason: 'need' } });
  const world = created({
    agents: [agent({ maxRetries: 0, agents: ['helper'] }), agent({ name: 'helper', maxRetries: 0 })],
    brain: (request) => {
      if (turnOf(request) === 1) return request.agent === 'worker' ? helps : calls({ name: 'look' });
      return isDown ? down : reports('Done.');
    },
  });
  const handle = await start(world);
  expect(await handle.done).toMatchObject({ kind: 'parked' });
  for (const last of [false, false, true]) {
    isDown = !last;
    const resumed = await world.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect(await resumed.handle.done).toMatchObject({ kind: last ? 'ended' : 'parked' });
    const tree = await foldSession(world.ledger, handle.session, initialRunTree(), foldRunTree);
    expect(subtreeDoings(tree, handle.run)).toMatchObject({ runs: 2, toolCalls: 2 });
    const sums = createTreesDoings();
    for await (const event of readEvents(world.ledger, { session: handle.session })) sums.apply(event);
    expect(sums.of(handle.run)).toMatchObject({ own: { toolCalls: 1 }, below: { toolCalls: 1 } });
  }
});
