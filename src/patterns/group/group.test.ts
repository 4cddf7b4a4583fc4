import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { agent, calls, createWorld, says, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { SessionId } from '../../base/ids.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { textOf, userText } from '../../events/messages.ts';
import type { ModelRequest } from '../../models/port.ts';

const kept = closedAfterwards();

const asked = (request: ModelRequest): string =>
  textOf((request.messages.at(-1)?.content ?? []) as { type: string; text: string }[]);

function groupOf(
  group: NonNullable<AgentDefinition['group']>,
  others: readonly string[] = ['coder', 'tester'],
): AgentDefinition[] {
  return [agent({ name: 'lead', tools: [], group }), ...others.map((name) => agent({ name, tools: [] }))];
}

async function run(options: WorldOptions & { readonly session?: SessionId }, prompt = 'Build it.') {
  const world = kept(createWorld(options));
  return { world, ...(await send(world, prompt, options.session)) };
}

async function send(world: World, prompt: string, session?: SessionId) {
  const started = await world.engine.start({ agent: 'lead', input: userText(prompt), workspace: '.', session });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  const events = await readAll(world.ledger, started.handle.session);
  return { result: end.result, events, session: started.handle.session };
}

const PLAN = '@worker:coder Write it.\n@worker:tester Test it.';

describe('a group that broadcasts', () => {
  it('asks all the same and puts the answers side by side', async () => {
    const { result } = await run({
      agents: groupOf({ mode: 'broadcast', workers: ['coder', 'tester'] }),
      brain: (r) => says(`${r.agent}: ${asked(r)}`),
    });
    expect(result).toMatchObject({
      status: 'completed',
      report: { body: '### coder\n\ncoder: Build it.\n\n### tester\n\ntester: Build it.' },
    });
  });

  it('names who failed and keeps the rest', async () => {
    const { result } = await run({
      agents: groupOf({ mode: 'broadcast', workers: ['coder', 'tester'] }),
      brain: (r) => (r.agent === 'coder' ? { kind: 'failed', error: { kind: 'auth', message: 'no key' } } : says('fine')),
    });
    expect(result).toMatchObject({
      status: 'completed',
      report: { body: expect.stringMatching(/### coder \(failed\)[\s\S]*no key[\s\S]*### tester\n\nfine/) },
    });
  });
});

describe('sequential', () => {
  it('shows each what came before, and answers with the last', async () => {
    const prompts: string[] = [];
    const { result } = await run({
      agents: groupOf({ mode: 'sequential', workers: ['coder', 'tester'] }),
      brain: (r) => {
        prompts.push(asked(r));
        return says(`${r.agent} says so`);
      },
    });
    expect(prompts[1]).toContain('coder says so');
    expect(result.report.body).toBe('tester says so');
  });
});

describe('a group with an orchestrator', () => {
  const brain = (r: ModelRequest) => {
    if (r.agent !== 'lead') return says(`${r.agent} did: ${asked(r).split('## Your Assigned Task')[1]?.trim()}`);
    return asked(r).includes('The workers have answered') ? says('All together now.') : says(PLAN);
  };

  it('plans, divides, collects and synthesises', async () => {
    const prompts: string[] = [];
    const { result, events } = await run({
      agents: groupOf({
        mode: 'orchestrator',
        workers: ['coder', { agent: 'tester', charter: 'You test.', model: 'test/other' }],
      }),
      brain: (r) => {
        prompts.push(asked(r));
        return brain(r);
      },
    });
    expect(result).toMatchObject({ status: 'completed', report: { body: 'All together now.' }, finalAgent: 'lead' });
    expect(prompts[0]).toContain('tester (model test/other): You test.');
    expect(prompts.find((prompt) => prompt.includes('Test it.') && prompt.startsWith('You test.'))).toContain('Build it.');
    expect(events.find((event) => event.event_type === 'group.planned')?.payload).toMatchObject({
      assignments: [{ worker: 'coder', task: 'Write it.' }, { worker: 'tester' }],
    });
  });

  it('nudges an orchestrator that does the work itself, then takes its answer', async () => {
    const { result, events } = await run({
      agents: groupOf({ mode: 'orchestrator', workers: ['coder', 'tester'] }),
      brain: () => says('I did it myself, at length.'),
    });
    expect(result).toMatchObject({ status: 'completed', report: { body: 'I did it myself, at length.' } });
    expect(events.filter((event) => event.event_type === 'group.planned')).toHaveLength(4);
  });

  it('takes no plan for strangers as an answer, however long it is', async () => {
    let times = 0;
    const { result } = await run({
      agents: groupOf({ mode: 'orchestrator', workers: ['coder', 'tester'] }),
      brain: () => {
        times += 1;
        return says(times === 1 ? '@worker:bogus Do all of it, and do it well.\n@end' : 'I did it myself.');
      },
    });
    expect(result).toMatchObject({ status: 'completed', report: { body: 'I did it myself.' } });
  });

  it('reports unknown workers back', async () => {
    const { events } = await run({
      agents: groupOf({ mode: 'orchestrator', workers: ['coder', 'tester'] }),
      brain: (r) => (r.agent === 'lead' && asked(r).includes('## Workers') ? says('@worker:nobody Do it.') : brain(r)),
    });
    expect(events.filter((event) => event.event_type === 'group.planned').map((event) => event.payload)).toMatchObject([
      { unknown: ['nobody'] },
      { unknown: [] },
    ]);
  });

  it('members keep their conversations between prompts', async () => {
    const lengths: number[] = [];
    const first = await run({
      agents: groupOf({ mode: 'broadcast', workers: ['coder'] }, ['coder']),
      brain: (r) => {
        lengths.push(r.messages.length);
        return says('yes');
      },
    });
    await send(first.world, 'Again.', first.session);
    expect(lengths).toEqual([1, 3]);
  });
});

describe('a group that reflects', () => {
  const workers = ['coder', 'tester'];
  const judge = (score: number) => calls({ name: 'evaluate', input: { score, rationale: `worth ${score}` } });

  it('goes round until the evaluator is content', async () => {
    let round = 0;
    const { result, events } = await run({
      agents: groupOf({ mode: 'reflect', workers, evaluator: 'judge' }, ['coder', 'tester', 'judge']),
      brain: (r) => {
        if (r.agent === 'judge') return judge(++round < 2 ? 0.5 : 0.95);
        if (r.agent !== 'lead') return says(`${r.agent} ${round} did a long piece of work`);
        return asked(r).includes('The workers have answered') ? says(`Synthesis ${round} of everything`) : says(PLAN);
      },
    });
    expect(result).toMatchObject({ status: 'completed', report: { body: 'Synthesis 1 of everything' } });
    expect(events.find((event) => event.event_type === 'group.ended')?.payload).toMatchObject({
      outcome: 'met',
      reason: 'goal_met',
      iterations: 2,
    });
    expect(events.filter((event) => event.event_type === 'group.evaluated').map((event) => event.payload)).toMatchObject([
      { score: 0.5, trend: 'stable' },
      { score: 0.95, trend: 'improving', goalMet: true },
    ]);
  });

  it.each([
    ['the sentinel on its own line', () => 'Done.\n[[GROUP_REFLECT_COMPLETE]]', 'goal_met', 1, 'completed'],
    [
      'the limit',
      (round: number) => `${'new words each time '.repeat(round)}${round} ${round * 7}\n[[NEEDS_ITERATION]]`,
      'max_iterations',
      3,
      'completed_unverified',
    ],
    ['a stall', () => 'the same again and again\n[[NEEDS_ITERATION]]', 'stalled', 3, 'completed_unverified'],
  ] as const)('ends by %s', async (_name, synthesis, reason, iterations, status) => {
    let round = 0;
    const { result, events } = await run({
      agents: groupOf({ mode: 'reflect', workers, maxIterations: 3 }),
      brain: (r) => {
        if (r.agent !== 'lead') return says('work [[GROUP_REFLECT_COMPLETE]]');
        return asked(r).includes('The workers have answered') ? says(synthesis(++round)) : says(PLAN);
      },
    });
    expect(events.find((event) => event.event_type === 'group.ended')?.payload).toMatchObject({
      reason,
      iterations,
      outcome: status === 'completed' ? 'met' : 'missed',
    });
    expect(result.status).toBe(status);
    expect(result.report.body).not.toContain('[[');
  });
});
