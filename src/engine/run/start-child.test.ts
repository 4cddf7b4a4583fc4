import { expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { agent, calls, createWorld, says, turnOf } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import type { Pattern } from '../../patterns/pattern.ts';
import { spawnInput } from '../../tools/assistants/schemas.ts';
import { defineAnsweredTool } from '../../tools/define-built-in.ts';

const kept = closedAfterwards();

const spawning = defineAnsweredTool('spawn', { name: 'spawn_assistant', description: 'Spawns.', input: spawnInput });

it.each([
  [
    'a sub-agent that is called',
    agent({ name: 'boss', tools: [], agents: ['helper'] }),
    calls({ name: 'helper', input: { prompt: 'Help.', reason: 'It can.' } }),
  ],
  [
    'an assistant that is spawned',
    agent({ name: 'boss', tools: ['spawn_assistant'] }),
    calls({ name: 'spawn_assistant', input: { assistant_id: 'helper', query: 'Help.', run_mode: 'sync' } }),
  ],
])('%s is looked up once, so that what bounds it and what it is told are of one version', async (_who, boss, asks) => {
  let version = 0;
  const found = async (name: string) => {
    if (name === 'boss') return boss;
    version += 1;
    return agent({ name, tools: [], prompt: `Version ${version}.`, budget: { calls: version } });
  };
  let before = 0;
  const world = kept(
    createWorld({
      brain: (request) => {
        if (request.agent === 'helper') return says('Here you are.');
        if (turnOf(request) > 1) return says('Done.');
        before = version;
        return asks;
      },
      tools: [spawning],
      engineOptions: { agent: found },
    }),
  );
  const started = await world.engine.start({ agent: 'boss', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  const events = await world.ledger.read({ session: started.handle.session });
  const ofHelper = events.filter(({ run_id }) => run_id !== started.handle.run).map(({ payload }) => payload);
  expect(version).toBe(before + 1);
  expect(ofHelper).toContainEqual(
    expect.objectContaining({ agent: 'helper', budget: expect.objectContaining({ calls: version }) }),
  );
  expect(ofHelper).toContainEqual(expect.objectContaining({ system: `Version ${version}.` }));
});

const terms = (place: TaskPlace): TaskTerms => ({
  ...{ task: 'task-1', include: ['src/'], exclude: [], noTouch: [], mode: 'full', place, package: 'event://s/task.package/1' },
  limits: { maxCliCalls: 8, maxDurationMs: 900_000, maxMemoryMb: 4_096 },
});

it('a task is worked on in the folder of its terms, which stand in the start of its run', async () => {
  const place = { kind: 'worktree', path: '/worktrees/one', base: 'a'.repeat(40), repo: '/repo' } as const;
  const handing: Pattern = {
    key: 'architect',
    async core(run) {
      const handle = await run.steps.start('task', 'helper', userText('Help.'), {
        ...{ kind: 'task', role: 'executor', reason: 'helps', terms: terms(place) },
      });
      const [result] = await run.steps.all([handle]);
      if (result === undefined) throw new Error('no result');
      return result;
    },
  };
  const boss = agent({ name: 'boss', tools: [], architect: { executor: 'helper' } });
  const agents = [boss, agent({ name: 'helper', tools: [] })];
  const world = kept(createWorld({ brain: () => says('Done.'), agents, engineOptions: { patterns: [handing] } }));
  const started = await world.engine.start({ agent: 'boss', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  const events = await world.ledger.read({ session: started.handle.session, types: ['run.started'] });
  const starts = events.map(({ payload }) => payload as Parameters<typeof taskTermsOf>[0] & { readonly workspace?: string });
  expect(starts.map(({ workspace }) => workspace)).toEqual([undefined, place.path]);
  expect(starts.map(taskTermsOf)).toEqual([undefined, terms(place)]);
});
