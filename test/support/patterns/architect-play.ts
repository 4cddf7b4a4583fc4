/** What the scenarios of architects are made of: who there is, and what each of them says. */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { Json } from '../../../src/base/json.ts';
import type { EventType, Payloads } from '../../../src/events/catalogue.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import { calls, says } from '../world.ts';
import { actor, eventsOf, fails, type Scenario, type ScenarioRun, told } from './scenarios.ts';

type Config = NonNullable<AgentDefinition['architect']>;

export const chief = (changes: Partial<Config> = {}, more: Partial<AgentDefinition> = {}) =>
  actor('chief', { architect: { executor: 'hand', ...changes }, ...more });

const executor = (name: string) => actor(name, { permissions: { shell: 'allow', act: 'allow' }, tools: ['act'] });
export const hands = [executor('hand'), executor('spare')];

interface Wanted {
  readonly include?: readonly string[];
  readonly acceptance?: readonly string[];
  readonly more?: { readonly [key: string]: Json };
}

export const task = (goal: string, { include = [`${goal}.js`], acceptance = ['`check` passes'], more = {} }: Wanted = {}) => ({
  goal,
  include_paths: include,
  exclude_paths: [],
  acceptance,
  constraints: { max_cli_calls: 4, max_duration_seconds: 60, no_touch: [] },
  ...more,
});

export const delegates = (...tasks: readonly ReturnType<typeof task>[]): ModelOutcome =>
  calls({ name: 'delegate', input: { tasks } as unknown as Json, id: 'delegate' });

export const asks = (question: string): ModelOutcome =>
  calls({ name: 'clarify', input: { questions: [{ question }] }, id: 'ask' });

/** The ids of tasks whose results it was told last. */
export const openIn = (request: ModelRequest): string[] => {
  const all = [...told(request).matchAll(/## RESULT OF (task-\w+):/g)].map((found) => found[1] ?? '');
  return [...new Set(all)];
};

export const judges = (
  request: ModelRequest,
  verdict: string,
  more: object = {},
  ids = openIn(request).slice(-1),
): ModelOutcome => {
  const tasks = ids.map((task_id) => ({ task_id, verdict, why: `It is ${verdict}.`, ...more }));
  return calls({ name: 'judge', input: { tasks } as unknown as Json, id: 'judge' });
};

/** One answer after the other, over the whole conversation. */
export const inTurn =
  (...plays: readonly ((request: ModelRequest) => ModelOutcome)[]) =>
  (request: ModelRequest, turn: number): ModelOutcome =>
    plays[turn - 1]?.(request) ?? fails(`nothing is played in turn ${turn}`);

/** Does something that must not be done twice, named by its task. */
export const works = (request: ModelRequest, turn: number): ModelOutcome =>
  turn === 1 ? calls({ name: 'act', input: { name: /task_id: (\S+)/.exec(told(request))?.[1] ?? '' } }) : says('I did it.');

export const row = (
  name: string,
  scenario: Omit<Scenario, 'name' | 'pattern' | 'agents' | 'prompt'> & Partial<Scenario>,
): Scenario => ({
  name,
  pattern: 'architect',
  agents: [chief(), ...hands],
  prompt: 'Add a greeting.',
  ...scenario,
});

export const payloads = <Type extends EventType>(played: ScenarioRun, type: Type): Payloads[Type][] =>
  // The type of the event is the type of its payload; the compiler cannot see that through a generic function.
  eventsOf(played, type).map(({ payload }) => payload as Payloads[Type]);
