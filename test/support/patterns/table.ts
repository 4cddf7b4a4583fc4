/** All scenarios, and the two ways to play them undisturbed. */
import { ok as holds } from 'node:assert/strict';
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import { present } from '../../../src/base/present.ts';
import type { RunEnd, RunHandle } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import { compareRows } from '../../../src/front/looking/compare-runs.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { type ReplayOutcome, replayRun } from '../../../src/replay/replay.ts';
import { type Brain, createWorld, type World, type WorldOptions, worldTools } from '../world.ts';
import { advisorScenarios } from './advisors.ts';
import { agentScenarios } from './agents.ts';
import { architectScenarios } from './architect.ts';
import { architectFailures } from './architect-failing.ts';
import { compositionScenarios } from './compositions.ts';
import { dispatchScenarios } from './dispatch.ts';
import { executorScenarios } from './executors.ts';
import { groupScenarios } from './groups.ts';
import { reflectScenarios } from './groups-reflect.ts';
import { handoffScenarios } from './handoff.ts';
import { remoteScenarios } from './remote.ts';
import { routerScenarios } from './router.ts';
import { never, type Scenario, type ScenarioEvent, type ScenarioRun } from './scenarios.ts';
import { createTwin } from './steps-twin.ts';
import { teamScenarios } from './team.ts';
import { verificationScenarios } from './verification.ts';

export const scenarios: readonly Scenario[] = [
  ...handoffScenarios,
  ...routerScenarios,
  ...advisorScenarios,
  ...teamScenarios,
  ...agentScenarios,
  ...compositionScenarios,
  ...groupScenarios,
  ...reflectScenarios,
  ...dispatchScenarios,
  ...architectScenarios,
  ...architectFailures,
  ...verificationScenarios,
  ...remoteScenarios,
  ...executorScenarios,
];

export const ROOT_RUN = 'run_0000000000000pattern' as RunId;
export const ROOT_SESSION = 'ses_0000000000000pattern' as SessionId;

export interface PlayedScenario extends ScenarioRun {
  /** The ledger's own events, where there is a ledger. */
  readonly ledger: readonly LedgerEvent[];
}

/** Plays a scenario to its end. With `stopAt`, it is cancelled when that agent first asks its model. */
export type PlayScenario = (scenario: Scenario, stopAt?: string) => Promise<PlayedScenario>;

/** The scenario's model, which notes what it was asked. Messages are copied: the conversation goes on growing. */
function noting(scenario: Scenario, asked: ModelRequest[], stopAt: string | undefined, cancel: () => void): Brain {
  return (request) => {
    asked.push({ ...request, messages: [...request.messages] });
    if (request.agent !== stopAt) return scenario.brain(request);
    cancel();
    return never(request);
  };
}

export const playByHand: PlayScenario = async (scenario, stopAt) => {
  const asked: ModelRequest[] = [];
  const twin = createTwin({
    agents: scenario.agents,
    tools: worldTools({ modelCalls: [], effects: [] }),
    clock: scenario.clock,
    answer: scenario.answer,
    brain: noting(scenario, asked, stopAt, () => twin.cancel()),
  });
  const first = scenario.agents[0]?.name ?? '';
  let result = await twin.run(first, userText(scenario.prompt));
  if (scenario.afterwards !== undefined) result = await twin.run(first, userText(scenario.afterwards));
  return { result, asked, events: twin.events, ledger: [] };
};

/** What was played is played again from its record, and must come to the same. */
export const playOnEngine: PlayScenario = async (scenario, stopAt) => {
  let replayed: ReplayOutcome | undefined;
  let isSame = false;
  const played = await playIn(
    async (options) => {
      const world = createWorld(options);
      const close = async (): Promise<void> => {
        const [latest] = await world.ledger.runs({ roots: true, limit: 1 });
        replayed = await replayRun(world.ledger, latest?.run ?? ROOT_RUN);
        if (latest !== undefined) {
          const compared = await compareRows(world.ledger, latest, latest, { prose: true, now: 0 });
          isSame = compared.ok && compared.value.same && compared.value.counts.same > 0;
        }
        await world.close();
      };
      return { ...world, close };
    },
    scenario,
    stopAt,
  );
  holds(isSame, 'It differs from itself.');
  holds(replayed?.kind === 'identical', `Played again: ${JSON.stringify(replayed)}`);
  return played;
};

/** Plays a scenario in a world of any engine. */
export async function playIn(
  create: (options: WorldOptions) => Promise<World>,
  scenario: Scenario,
  stopAt?: Parameters<PlayScenario>[1],
): Promise<PlayedScenario> {
  const asked: ModelRequest[] = [];
  const cancel = (): void => void world.engine.cancel(ROOT_RUN, 'enough');
  const brain = noting(scenario, asked, stopAt, cancel);
  const world = await create({
    agents: scenario.agents,
    brain,
    ...present({ clock: scenario.clock }),
  });
  let result = await playPrompt(world, scenario, scenario.prompt, ROOT_RUN);
  if (scenario.afterwards !== undefined) result = await playPrompt(world, scenario, scenario.afterwards);
  const ledger = await readAll(world.ledger, ROOT_SESSION);
  await world.close();
  return { result, asked, events: scenarioEvents(ledger), ledger };
}

async function playPrompt(world: World, scenario: Scenario, prompt: string, run?: RunId): Promise<RunResult> {
  const started = await world.engine.start({
    agent: scenario.agents[0]?.name ?? '',
    input: userText(prompt),
    workspace: '.',
    session: ROOT_SESSION,
    ...present({ run }),
  });
  holds(started.kind === 'started', JSON.stringify(started));
  const end = await playOn(world, scenario, started.handle);
  holds(end.kind === 'ended', JSON.stringify(end));
  return end.result;
}

/** Until the run waits for nobody any more: what it asks is answered, if the play has somebody who does. */
export async function playOn(world: World, { answer }: Scenario, handle: RunHandle): Promise<RunEnd> {
  for (let going = handle; ; ) {
    const end = await going.done;
    if (end.kind !== 'waiting' || answer === undefined) return end;
    for (const { run, wait, question } of end.waits)
      await world.engine.answer(run, wait, { kind: 'text', text: answer(question) });
    const resumed = await world.engine.resume(handle.run);
    if (resumed.kind === 'ended') return { kind: 'ended', result: resumed.result };
    holds(resumed.kind === 'resumed', JSON.stringify(resumed));
    going = resumed.handle;
  }
}

export function scenarioEvents(events: readonly LedgerEvent[]): ScenarioEvent[] {
  const agents = new Map(
    events.flatMap((event) => (event.event_type === 'run.started' ? [[event.run_id, event.payload.agent]] : [])),
  );
  // A ledger event's payload belongs to its type, and so does a story's.
  return events.map(
    ({ event_type: type, run_id: run, step, payload }) =>
      ({ type, run, agent: agents.get(run) ?? '', step: step ?? '', payload }) as unknown as ScenarioEvent,
  );
}
