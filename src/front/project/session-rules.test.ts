import { expect, it } from 'vitest';
import { answered, resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { agent, calls, createWorld, says, turnOf } from '../../../test/support/world.ts';
import { limits } from '../../base/limits.ts';
import { userText } from '../../events/messages.ts';
import { readSessionRules } from './session-rules.ts';

it('looks at the newest sessions, says how many it has left out', async () => {
  const world = createWorld({
    agents: [agent({ permissions: { act: 'ask' } })],
    brain: (asked) =>
      turnOf(asked) === 1 && JSON.stringify(asked.messages).includes('act') ? calls({ name: 'act' }) : says('Done.'),
  });
  const input = userText('act');
  const first = await start(world, { input });
  await answered(world, first, { kind: 'approved', remember: true });
  expect(await readSessionRules(world.ledger)).toEqual({ rules: [{ tool: 'act', session: first.session }], leftOut: 0 });
  const waits = await start(world, { input });
  await waits.done;
  for (let count = 1; count < limits.permissionSessions; count += 1) await resultOf(await start(world));
  // Only asked for so far; and the one in which it is remembered is not among the newest any more.
  expect(await readSessionRules(world.ledger)).toEqual({ rules: [], leftOut: 1 });
  await world.close();
});
