/** A person may have somebody else spawned than the model asked for: that one it is, also for whoever takes the run up later. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { start } from '../../../test/conformance/engine/checks.ts';
import { bossTools, messageTools } from '../../../test/support/assistants/boss-and-helpers.ts';
import { agent, type Brain, calls, createWorld, says, turnOf, type World, worldTools } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds, type RunId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import { openSqliteLedger } from '../../ledger/sqlite/store.ts';
import type { RunEnd } from '../port.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-changed-spawn-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const agents = [
  agent({ name: 'worker', tools: ['spawn_assistant', 'act'], permissions: { spawn_assistant: 'ask', act: 'ask' } }),
  agent({ name: 'careless', tools: [] }),
  agent({ name: 'careful', tools: [] }),
];

/** Spawns somebody, does something, and says what it was told of its assistants last. */
const brain: Brain = (request) => {
  if (request.agent !== 'worker') return says('Done.');
  if (turnOf(request) === 1)
    return calls({ name: 'spawn_assistant', input: { assistant_id: 'careless', query: 'Drop the table.' } });
  if (turnOf(request) === 2) return calls({ name: 'act' });
  const told = request.messages.findLast(
    ({ role, content }) => role === 'user' && JSON.stringify(content).includes('process_id'),
  );
  return says(JSON.stringify(told?.content));
};

function life(): World {
  const ids = createIds(systemClock, systemRandom);
  const ledger = openSqliteLedger({ path: join(folder, 'ledger.db'), clock: systemClock, ids, validate: true });
  const tools = bossTools(ledger, systemClock, ids, worldTools({ modelCalls: [], effects: [] }));
  return createWorld({ ledger, agents, tools, brain, engineOptions: { messageTools: async () => messageTools(tools) } });
}

async function goesOn({ engine }: World, run: RunId): Promise<RunEnd> {
  const resumed = await engine.resume(run);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  return await resumed.handle.done;
}

it('an assistant that a person chose instead is known by its own name after the process has gone', async () => {
  const first = life();
  const { run, done } = await start(first);
  await done;
  const [spawning] = await first.engine.waits(run);
  const input = { assistant_id: 'careful', query: 'Count the rows.' };
  await first.engine.answer(run, spawning?.wait ?? '', { kind: 'approved', input });
  expect(await goesOn(first, run)).toMatchObject({ kind: 'waiting' });
  await first.close();
  await first.ledger.close();
  const second = life();
  const [acting] = await second.engine.waits(run);
  await second.engine.answer(run, acting?.wait ?? '', { kind: 'approved' });
  const end = await goesOn(second, run);
  const told = end.kind === 'ended' ? end.result.report.body : '';
  expect(told).toContain('careful');
  expect(told).not.toContain('careless');
  await second.close();
  await second.ledger.close();
});
