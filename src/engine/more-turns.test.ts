/** Whoever used up its turns goes on with more of them, also where a pattern counts them over several runs. */
import { expect, it } from 'vitest';
import { closedAfterwards } from '../../test/support/kept-worlds.ts';
import { chief, delegates, hands, judges, task, works } from '../../test/support/patterns/architect-play.ts';
import { actor } from '../../test/support/patterns/scenarios.ts';
import { type Brain, calls, createWorld, reports, says, turnOf } from '../../test/support/world.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { userText } from '../events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../models/port.ts';
import type { RunResult } from '../patterns/steps.ts';
import type { ResumeTerms } from './port.ts';

const kept = closedAfterwards();

const looks = calls({ name: 'look' });
const delegating = (): ModelOutcome => delegates(task('greet'));
const accepting = (request: ModelRequest): ModelOutcome => judges(request, 'accepted');

const architect =
  (...plays: readonly ((request: ModelRequest) => ModelOutcome)[]): Brain =>
  (request) =>
    request.agent === 'chief' ? (plays[turnOf(request) - 1]?.(request) ?? reports('Greets.')) : works(request, turnOf(request));

const team: Brain = (request) => {
  if (request.agent !== 'lead') return says('I agree.');
  return turnOf(request) <= 2 ? looks : reports('We agree.');
};

async function ended(world: ReturnType<typeof createWorld>, agent: string): Promise<{ run: string; result: RunResult }> {
  const started = await world.engine.start({ agent, input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  return { run: started.handle.run, result: end.result };
}

const lookingChief = chief({}, { maxTurns: 3, tools: ['look'] });
const room = actor('room', { team: { members: ['ana', 'ben'], supervisor: 'lead', supervisorMaxTurns: 2 } });

it.each<[string, AgentDefinition, readonly AgentDefinition[], Brain, number]>([
  [
    'an architect in the second of two turns',
    lookingChief,
    hands,
    architect(
      delegating,
      () => looks,
      () => looks,
      accepting,
    ),
    3,
  ],
  [
    'an architect in a part that began with its last',
    lookingChief,
    hands,
    architect(
      () => looks,
      delegating,
      () => looks,
      accepting,
    ),
    3,
  ],
  ['the supervisor of a team', room, [actor('lead', { tools: ['look'] }), actor('ana'), actor('ben')], team, 2],
])('%s', async (_name, boss, others, brain, had) => {
  const world = kept(createWorld({ brain, agents: [boss, ...others] }));
  const { run, result } = await ended(world, boss.name);
  expect(result.error).toMatchObject({ code: 'no_report', message: expect.stringContaining(`used its ${had} turns without`) });
  const advised = Number(/--max-turns (\d+)/.exec(result.error?.fix ?? '')?.[1]);
  expect(advised).toBe(had * 2);
  const resume = (terms: ResumeTerms) => world.engine.resume(run as never, terms);
  // As many as it had change nothing, and that is said before anything is written.
  expect(await resume({ maxTurns: had })).toMatchObject({ kind: 'refused', error: { code: 'ended' } });
  const resumed = await resume({ maxTurns: advised });
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  const events = await world.ledger.read({ session: resumed.handle.session });
  const judged = events.flatMap((event) => (event.event_type === 'task.judged' ? [event.payload] : []));
  expect(judged.map(({ by, verdict }) => `${verdict} by ${by}`)).toEqual(
    boss.architect === undefined ? [] : ['accepted by architect'],
  );
});
