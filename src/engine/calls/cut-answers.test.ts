/** Whoever builds on an answer that ends in the middle is told so, whichever way it came. */
import { expect, it } from 'vitest';
import { agent, calls as asks, createWorld, says, turnOf } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { userText } from '../../events/messages.ts';
import { CUT_OFF } from '../../events/report-text.ts';
import type { ModelOutcome, ModelRequest } from '../../models/port.ts';

const cut = (text: string): ModelOutcome => {
  const outcome = says(text);
  return outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, finish: 'length' } } : outcome;
};

const HALF = 'The first half of it';
const half = agent({ name: 'half', prompt: 'You are half.', tools: [] });
const isHalf = ({ system }: ModelRequest): boolean => system.includes('You are half.');

interface Way {
  readonly name: string;
  readonly changes: Partial<AgentDefinition>;
  readonly brain?: (request: ModelRequest) => ModelOutcome;
}

const ways: readonly Way[] = [
  {
    name: 'a sub-agent',
    changes: { agents: ['half'] },
    brain: (request) =>
      turnOf(request) === 1 ? asks({ name: 'half', input: { prompt: 'Go.', reason: 'to see' } }) : says('Done.'),
  },
  { name: 'an advisor', changes: { advisors: ['half'] } },
  { name: 'a worker', changes: { group: { mode: 'broadcast', workers: ['half'] } } },
];

it.each(ways)('$name', async ({ changes, brain = () => says('Done.') }) => {
  const heard: string[] = [];
  const world = createWorld({
    agents: [agent({ name: 'worker', prompt: 'You lead.', tools: [], ...changes }), half],
    brain: (request) => {
      if (isHalf(request)) return cut(HALF);
      heard.push(JSON.stringify(request.messages));
      return brain(request);
    },
  });
  try {
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: process.cwd() });
    if (started.kind !== 'started') throw new Error(started.error.message);
    const end = await started.handle.done;
    const answer = end.kind === 'ended' ? end.result.report.body : '';
    const seen = [...heard, answer].filter((text) => text.includes(HALF));
    expect(seen.length).toBeGreaterThan(0);
    for (const text of seen) expect(text).toContain(CUT_OFF);
  } finally {
    await world.close();
  }
});

it('a handoff, with the request and without', async () => {
  for (const include of ['request', 'report'] as const) {
    const heard: string[] = [];
    const world = createWorld({
      agents: [
        agent({ ...half, name: 'worker', handoff: { to: 'next', include } }),
        agent({ name: 'next', prompt: 'You are next.', tools: [] }),
      ],
      brain: (request) => {
        if (isHalf(request)) return cut(HALF);
        heard.push(JSON.stringify(request.messages));
        return says('Done.');
      },
    });
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: process.cwd() });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    await world.close();
    expect(heard).toEqual([expect.stringContaining(CUT_OFF)]);
  }
});

it('an answer that is whole is passed on as it is', async () => {
  const heard: string[] = [];
  const world = createWorld({
    agents: [agent({ name: 'worker', prompt: 'You lead.', tools: [], advisors: ['half'] }), half],
    brain: (request) => {
      if (isHalf(request)) return says(HALF);
      heard.push(JSON.stringify(request.messages));
      return says('Done.');
    },
  });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: process.cwd() });
  if (started.kind !== 'started') throw new Error(started.error.message);
  await started.handle.done;
  await world.close();
  expect(heard).toEqual([expect.stringContaining(HALF)]);
  expect(heard[0]).not.toContain(CUT_OFF);
});
