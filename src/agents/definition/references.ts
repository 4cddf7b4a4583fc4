/** Which other agents an agent names, in which role, and where in its frontmatter it does so. */

import type { Path } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';
import { hasOwnModels } from './executor.ts';

interface Edge {
  /** Only asked if a model chooses it; all others are sure to be. */
  readonly byChoice?: boolean;
  /** The declaring agent may be named: in every other role it would call itself for ever. */
  readonly maySelf?: boolean;
  /** An executor may be named as well, by its own name. */
  readonly orExecutor?: boolean;
  /** Answers in the place of the one that names it, or only contributes. */
  readonly gives?: 'answer' | 'contribution';
}

const edges = {
  advisor: { gives: 'contribution' },
  router: { byChoice: true, gives: 'answer' },
  handoff: { gives: 'answer' },
  'sub-agent': { byChoice: true },
  'team member': { gives: 'contribution' },
  'team supervisor': { maySelf: true },
  'group worker': {},
  'group evaluator': { maySelf: true },
  dispatch: { byChoice: true },
  'dispatch fallback': { byChoice: true },
  'dispatch clarification': { byChoice: true },
  executor: { byChoice: true, orExecutor: true },
  'fallback executor': { byChoice: true, orExecutor: true },
} as const satisfies Readonly<Record<string, Edge>>;

export type EdgeKind = keyof typeof edges;

export const edgeOf = (kind: EdgeKind): Edge => edges[kind];

export interface Reference {
  readonly kind: EdgeKind;
  readonly target: string;
  readonly path: Path;
  /** Takes the place of the target's own models, and where that is said. */
  readonly model?: { readonly name: string; readonly path: Path };
}

type Patterns = Pick<AgentDefinition, 'advisors' | 'router' | 'handoff' | 'agents' | 'team' | 'group' | 'dispatch' | 'architect'>;

/** In the order in which a run would meet them. */
export function referencesOf(agent: Patterns): readonly Reference[] {
  const { advisors, agents, team, group, dispatch, architect, router, handoff } = agent;
  return [
    ...many('advisor', advisors, ['advisors']),
    ...many('sub-agent', agents, ['agents']),
    ...many('team member', team?.members, ['team', 'members']),
    ...one('team supervisor', team?.supervisor, ['team', 'supervisor']),
    ...workersIn(group?.workers ?? []),
    ...one('group evaluator', group?.evaluator, ['group', 'evaluator']),
    ...many('dispatch', dispatch?.agents, ['dispatch', 'agents']),
    ...one('dispatch fallback', dispatch?.fallback, ['dispatch', 'fallback']),
    ...one('dispatch clarification', clarifier(dispatch), ['dispatch', 'clarification']),
    ...one('executor', architect?.executor, ['architect', 'executor']),
    ...many('fallback executor', architect?.fallbackExecutors, ['architect', 'fallbackExecutors']),
    ...many('router', router?.destinations, ['router', 'destinations']),
    ...one('handoff', handoff?.to, ['handoff', 'to']),
  ];
}

/** In the place of an agent that clarifies: the user is asked. */
export const ASK_THE_USER = 'ask';

/** The agent that asks what was meant; none where the user is asked straight away. */
export const clarifier = (dispatch: AgentDefinition['dispatch']): string | undefined =>
  dispatch?.clarification === ASK_THE_USER ? undefined : dispatch?.clarification;

/** Models that the agent gives to others, or uses itself for something else than its own work, and where that is said. */
export function modelsGiven(agent: AgentDefinition): readonly NonNullable<Reference['model']>[] {
  const own = agent.dispatch?.model;
  return [
    ...(own === undefined ? [] : [{ name: own, path: ['dispatch', 'model'] }]),
    ...referencesOf(agent).flatMap(({ model }) => (model === undefined ? [] : [model])),
  ];
}

/** The models that it names. What stands in their place where an agent has its own says who that is, and is none. */
export const modelsNamed = (agent: Pick<AgentDefinition, 'models' | 'remote' | 'executor'>): readonly string[] =>
  hasOwnModels(agent) ? [] : agent.models;

/** What the agent asks itself: its models, or those that it gets, and what it chooses others with. */
export function modelsUsed(agent: AgentDefinition, defaults: readonly string[]): readonly string[] {
  if (hasOwnModels(agent)) return [];
  const { models, dispatch } = agent;
  return [...(models.length > 0 ? models : defaults), ...(dispatch?.model === undefined ? [] : [dispatch.model])];
}

type Workers = NonNullable<NonNullable<AgentDefinition['group']>['workers']>;

function workersIn(workers: Workers): readonly Reference[] {
  return workers.map((worker, index) => {
    const path = ['group', 'workers', index];
    const { agent, model } = typeof worker === 'string' ? { agent: worker } : worker;
    const given = model === undefined ? {} : { model: { name: model, path: [...path, 'model'] } };
    return { kind: 'group worker', target: agent, path, ...given };
  });
}

/** The agent with this model in the place of its own, and of all that it gives to others. */
export function withModel(agent: AgentDefinition, model: string): AgentDefinition {
  const workers = agent.group?.workers?.map((worker) => (typeof worker === 'string' ? worker : { ...worker, model }));
  const group = agent.group === undefined || workers === undefined ? {} : { group: { ...agent.group, workers } };
  const dispatch = agent.dispatch === undefined ? {} : { dispatch: { ...agent.dispatch, model } };
  return { ...agent, ...group, ...dispatch, models: hasOwnModels(agent) ? agent.models : [model] };
}

/** The agent as it is measured: it chooses anew each time, and its choice is all that it gives. */
export function onlyChoosing(agent: AgentDefinition): AgentDefinition {
  return agent.dispatch === undefined ? agent : { ...agent, dispatch: { ...agent.dispatch, cache: false, dryRun: true } };
}

function many(kind: EdgeKind, targets: readonly string[] | undefined, path: Path): readonly Reference[] {
  return (targets ?? []).map((target, index) => ({ kind, target, path: [...path, index] }));
}

function one(kind: EdgeKind, target: string | undefined, path: Path): readonly Reference[] {
  return target === undefined ? [] : [{ kind, target, path }];
}
