/** Which other agents an agent names, in which role, and where in its frontmatter it does so. */

import type { Path } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';

export type EdgeKind =
  | 'advisor'
  | 'router'
  | 'handoff'
  | 'sub-agent'
  | 'team member'
  | 'team supervisor'
  | 'group worker'
  | 'group evaluator'
  | 'dispatch'
  | 'dispatch fallback';

export interface Reference {
  readonly kind: EdgeKind;
  readonly target: string;
  readonly path: Path;
  /** Takes the place of the target's own models, and where that is said. */
  readonly model?: { readonly name: string; readonly path: Path };
}

type Patterns = Pick<AgentDefinition, 'advisors' | 'router' | 'handoff' | 'agents' | 'team' | 'group' | 'dispatch'>;

/** In the order in which a run would meet them. */
export function referencesOf(agent: Patterns): readonly Reference[] {
  const { advisors, agents, team, group, dispatch, router, handoff } = agent;
  return [
    ...many('advisor', advisors, ['advisors']),
    ...many('sub-agent', agents, ['agents']),
    ...many('team member', team?.members, ['team', 'members']),
    ...one('team supervisor', team?.supervisor, ['team', 'supervisor']),
    ...workersIn(group?.workers ?? []),
    ...one('group evaluator', group?.evaluator, ['group', 'evaluator']),
    ...many('dispatch', dispatch?.agents, ['dispatch', 'agents']),
    ...one('dispatch fallback', dispatch?.fallback, ['dispatch', 'fallback']),
    ...many('router', router?.destinations, ['router', 'destinations']),
    ...one('handoff', handoff?.to, ['handoff', 'to']),
  ];
}

/** Whether somebody is only asked if a model chooses it; all others are sure to be. */
export function isByChoice(kind: EdgeKind): boolean {
  return kind === 'sub-agent' || kind === 'router' || kind === 'dispatch' || kind === 'dispatch fallback';
}

/** The declaring agent may lead its own team and judge its own group; in every other role it would call itself for ever. */
export function mayNameItself(kind: EdgeKind): boolean {
  return kind === 'team supervisor' || kind === 'group evaluator';
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
  return { ...agent, ...group, models: [model] };
}

function many(kind: EdgeKind, targets: readonly string[] | undefined, path: Path): readonly Reference[] {
  return (targets ?? []).map((target, index) => ({ kind, target, path: [...path, index] }));
}

function one(kind: EdgeKind, target: string | undefined, path: Path): readonly Reference[] {
  return target === undefined ? [] : [{ kind, target, path }];
}
