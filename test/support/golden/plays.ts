/**
 * What is played for the golden sessions of every kind: a share of the scenarios of each pattern, some of them stopped in the
 * middle, and what no scenario has: assistants, conversations that were condensed, forks, runs that went on after their end.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { assistantTools } from '../../../src/assistants/agent-tools.ts';
import { createMessageService } from '../../../src/assistants/threads/message-service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { present } from '../../../src/base/present.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { ok } from '../../../src/base/result.ts';
import type { RunEnd, RunHandle, StartRequest } from '../../../src/engine/port.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import { type Tool, textResult } from '../../../src/tools/port.ts';
import { actor, byAgent, never, type Scenario } from '../patterns/scenarios.ts';
import { playOn, scenarios } from '../patterns/table.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World, type WorldOptions } from '../world.ts';

/** The first run and the session of a play. */
export interface PlayIds {
  readonly run: RunId;
  readonly session: SessionId;
}

export interface GoldenPlay {
  readonly title: string;
  /** What it is played in. */
  options(ledger: Ledger, ids: PlayIds, world: () => World): WorldOptions;
  play(world: World, ids: PlayIds): Promise<void>;
}

export async function begun(world: World, { run, session }: PlayIds, more: Partial<StartRequest> = {}): Promise<RunHandle> {
  const started = await world.engine.start({
    ...{ agent: 'worker', input: userText('Go.'), workspace: '.', session, run, ...more },
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}

export function ended(end: RunEnd): void {
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
}

/** Goes on with a run, answering with a yes whatever it asks. */
export async function goesOn({ engine }: World, run: RunId, more?: object): Promise<void> {
  const resumed = await (more === undefined ? engine.resume(run) : engine.resume(run, more));
  if (resumed.kind === 'ended') return;
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  const end = await resumed.handle.done;
  if (end.kind !== 'waiting') return ended(end);
  for (const one of end.waits)
    await engine.answer(one.run, one.wait, one.kind === 'permission' ? { kind: 'approved' } : { kind: 'text', text: 'Yes.' });
  await goesOn({ engine } as World, run);
}

const runOf = ({ idempotencyKey }: ModelRequest): RunId => /run_[0-9a-z]{20}/.exec(idempotencyKey)?.[0] as RunId;

/** `cancel`: whom, when this agent first asks its model. */
function ofScenario(scenario: Scenario, stopAt?: string, cancels: 'all' | 'it' = 'all'): GoldenPlay {
  const { agents, clock, prompt, afterwards, pattern, name } = scenario;
  const brain =
    ({ run }: PlayIds, world: () => World): Brain =>
    (request) => {
      if (stopAt === undefined || request.agent !== stopAt) return scenario.brain(request);
      void world().engine.cancel(cancels === 'all' ? run : runOf(request), 'enough');
      return never(request);
    };
  const how = stopAt === undefined ? '' : `, ${cancels} cancelled at ${stopAt}`;
  return {
    title: `${pattern}: ${name}${how}`,
    options: (ledger, ids, world) => ({ ledger, agents, brain: brain(ids, world), ...present({ clock }) }),
    async play(world, ids) {
      const first = agents[0]?.name ?? '';
      ended(await playOn(world, scenario, await begun(world, ids, { agent: first, input: userText(prompt) })));
      if (afterwards === undefined) return;
      const { session } = ids;
      const more = { agent: first, input: userText(afterwards), run: undefined };
      ended(await playOn(world, scenario, await begun(world, { session } as PlayIds, more)));
    },
  };
}

const stopped = scenarios
  .filter(({ everyCut, engineOnly, afterwards }) => everyCut === true && engineOnly === undefined && afterwards === undefined)
  .flatMap((scenario) => {
    const last = scenario.agents.at(-1)?.name ?? '';
    return scenario.agents.length === 1
      ? [ofScenario(scenario, last)]
      : [ofScenario(scenario, last), ofScenario(scenario, last, 'it')];
  });

/** In a world of these agents. */
const inWorld = (
  title: string,
  options: Pick<WorldOptions, 'agents' | 'brain' | 'tools' | 'engineOptions'>,
  play: GoldenPlay['play'],
): GoldenPlay => ({ title, options: (ledger) => ({ ledger, ...options }), play });

const lead: readonly AgentDefinition[] = [agent({ agents: ['helper'], maxRetries: 0 }), agent({ name: 'helper', maxRetries: 0 })];
const down: ModelOutcome = { kind: 'failed', error: { kind: 'network', message: 'nobody answers' } };

/** Nobody answers before it is said so. */
function outage(): { readonly brain: Brain; mend(): void } {
  let isDown = true;
  return {
    mend: () => {
      isDown = false;
    },
    brain: (request) => {
      if (request.agent === 'helper') return turnOf(request) === 1 ? calls({ name: 'act' }) : isDown ? down : says('Helped.');
      if (turnOf(request) === 1) return calls({ name: 'helper', input: { prompt: 'Help.', reason: 'need' }, id: 'help' });
      return isDown ? down : reports('All done.');
    },
  };
}

function wentOn(title: string, agents: readonly AgentDefinition[]): GoldenPlay {
  const { brain, mend } = outage();
  return inWorld(title, { agents, brain }, async (world, ids) => {
    await (await begun(world, ids)).done;
    mend();
    await goesOn(world, ids.run, {});
  });
}

const helped = byAgent({
  worker: (_request, turn) =>
    turn < 3
      ? calls({ name: 'helper', input: { prompt: `Part ${turn}.`, reason: 'need' }, id: `part-${turn}` })
      : reports('Both.'),
  helper: (_request, turn) => (turn === 1 ? calls({ name: 'look' }) : says('Helped.')),
});

const forkAt = (at: string, set?: object): GoldenPlay =>
  inWorld(`fork at ${at}`, { agents: lead, brain: helped }, async (world, ids) => {
    ended(await (await begun(world, ids)).done);
    const fork = ids.session.replace('golden', 'forked') as SessionId;
    const made = await world.engine.fork({ run: ids.run, at, session: fork, ...present({ set }) });
    if (made.kind !== 'forked') throw new Error(JSON.stringify(made));
    await goesOn(world, made.run);
  });

const spacious: Tool = {
  ...{ name: 'look', description: 'look', replay: 'safe', readOnly: true },
  inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
  run: async (input) => textResult(`${JSON.stringify(input)} ${'lorem ipsum '.repeat(60)}`),
};
const narrow = { tools: ['look'], maxTurns: 20, contextWindow: 1_500, maxOutputTokens: 300, toolResponseMaxBytes: 400 };
const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);
/** From a provider that does not say how much it read. */
const uncounted = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;
const condensed = inWorld(
  'condensed',
  {
    tools: [spacious],
    agents: [agent(narrow)],
    brain: (request) =>
      uncounted(turnIn(request) < 12 ? calls({ name: 'look', input: { name: `${turnIn(request)}` } }) : says('Done.')),
  },
  async (world, ids) => {
    ended(await (await begun(world, ids)).done);
    const more = await begun(world, { session: ids.session } as PlayIds, { run: undefined, input: userText('More.') });
    ended(await more.done);
  },
);

const TOOLS = ['spawn_assistant', 'poll_assistant', 'send_message', 'recv_message', 'cancel_assistant'];
const processIn = (request: ModelRequest): string => /run_[0-9a-z]{20}/.exec(JSON.stringify(request.messages))?.[0] ?? '';

/** An agent that spawns another one and hears what it says. */
function assisted(mode: 'sync' | 'async', afterSpawn: (request: ModelRequest, turn: number) => ModelOutcome): GoldenPlay {
  const input = { assistant_id: 'helper', query: 'Look into it.', run_mode: mode };
  return {
    title: `assistants, ${mode}`,
    options: (ledger) => {
      const ids = createIds(systemClock, seededRandom(7));
      const service = createMessageService({ ledger, clock: systemClock, ids });
      const list = async () => ok({ items: [], totalItems: 0 });
      const tools = assistantTools({ assistants: { ...service, list, search: async () => ok([]) }, clock: systemClock });
      return {
        ...{ ledger, tools, agents: [agent({ tools: TOOLS, maxTurns: 20 }), actor('helper')] },
        brain: byAgent({
          worker: (request, turn) => (turn === 1 ? calls({ name: 'spawn_assistant', input }) : afterSpawn(request, turn)),
          helper: () => says('It is so.'),
        }),
        engineOptions: { messageTools: async () => tools.filter(({ name }) => name.endsWith('_message')) },
      };
    },
    play: async (world, ids) => ended(await (await begun(world, ids)).done),
  };
}

const others: readonly GoldenPlay[] = [
  assisted('sync', () => reports('I was told.')),
  assisted('async', (request) =>
    JSON.stringify(request.messages).includes('It is so.')
      ? reports('I was told.')
      : calls({ name: 'poll_assistant', input: { process_id: processIn(request), wait_ms: 60_000 } }),
  ),
  condensed,
  wentOn('parked, and went on', lead),
  wentOn('failed, and went on', [
    agent({ tools: [], maxRetries: 0, handoff: { to: 'helper', include: 'report' }, agents: ['helper'] }),
    agent({ name: 'helper', maxRetries: 0 }),
  ]),
  ...(['start', 'turn 1', 'turn 2', 'end'] as const).map((at) => forkAt(at)),
  forkAt('start', { prompt: 'Something else.' }),
  forkAt('turn 1', { model: 'test/other' }),
  inWorld(
    'asked for a permission',
    {
      agents: [agent({ permissions: { act: 'ask' } })],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : says('Done.')),
    },
    async (world, ids) => {
      await (await begun(world, ids)).done;
      await goesOn(world, ids.run);
    },
  ),
  inWorld(
    'commands that are demanded',
    {
      agents: [agent({ verify: { commands: ['check'] } })],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.')),
    },
    async (world, ids) => {
      await (await begun(world, ids)).done;
      await goesOn(world, ids.run);
    },
  ),
  inWorld('out of budget', { agents: lead, brain: helped }, async (world, ids) =>
    ended(await (await begun(world, ids, { budget: { calls: 3 } })).done),
  ),
  ...(['broadcast', 'sequential'] as const).map((mode) =>
    inWorld(
      `a kept group, ${mode}`,
      {
        agents: [actor('lead', { group: { mode, workers: ['ann', 'bob'] } }), actor('ann'), actor('bob')],
        brain: ({ agent: name }) => says(`${name} says so.`),
      },
      async (world, ids) => {
        for (const prompt of ['First.', 'Second.']) {
          const run = prompt === 'First.' ? ids.run : undefined;
          const more = { agent: 'lead', input: userText(prompt), origin: { kind: 'group' }, run } as const;
          ended(await (await begun(world, ids, more)).done);
        }
      },
    ),
  ),
  inWorld('spawned by a client', { agents: lead, brain: helped }, async (world, ids) =>
    ended(await (await begun(world, ids, { origin: { kind: 'client', by: 'somebody' } })).done),
  ),
];

/** Of the scenarios that are not the hardest of their pattern, so many stand for one: what is kept lies in the repository. */
const SHARE = 3;
const chosen = scenarios.filter(({ everyCut }, index) => everyCut === true || index % SHARE === 0);

export const goldenPlays: readonly GoldenPlay[] = [...chosen.map((scenario) => ofScenario(scenario)), ...stopped, ...others];
