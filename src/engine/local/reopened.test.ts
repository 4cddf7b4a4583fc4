/** Who stands still for a provider and who ends, who tells how a run ended, and what a refusal leaves behind. */
import { expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, reports } from '../../../test/support/world.ts';
import { fail, ok } from '../../base/result.ts';
import type { ModelOutcome } from '../../models/port.ts';

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
