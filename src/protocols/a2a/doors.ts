/**
 * Under which address peers find agents. Every agent that is shown has a door of its own; the door of the house leads to the one
 * that the settings name, to the only one, or to the one that a request names.
 */
import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { mayBeSpawned } from '../../engine/spawning/client-rights.ts';
import type { A2aNeeds, Scope } from './needs.ts';
import { shownAgents } from './shown-agents.ts';

export type Door = { readonly kind: 'house' } | { readonly kind: 'agent'; readonly name: string };

/** What a request to the house may say: which agent it is for. */
export const AGENT_KEY = 'agent';

type Showing = Pick<A2aNeeds, 'agents' | 'settings'>;

/** The agents behind a door; none when there is no such door. */
export async function agentsBehind(needs: Showing, door: Door): Promise<readonly AgentDefinition[]> {
  const all = await shownAgents(needs);
  return door.kind === 'house' ? all : all.filter(({ name }) => name === door.name);
}

/** Whom a message that comes through a door is for. An agent that the caller may not use does not exist for it. */
export async function agentFor(needs: Showing, door: Door, { caller }: Scope, named: unknown): Promise<string> {
  const behind = (await agentsBehind(needs, door)).map(({ name }) => name).filter((name) => mayBeSpawned(caller.rights, name));
  if (door.kind === 'agent' || named === undefined) {
    const wanted = door.kind === 'agent' ? door.name : (needs.settings.house ?? (behind.length === 1 ? behind[0] : undefined));
    if (wanted !== undefined && behind.includes(wanted)) return wanted;
    if (door.kind === 'agent' || behind.length === 0) throw new UnsupportedOperationError('There is no agent here for you.');
    throw new RequestMalformedError(`Say which agent it is for, in metadata.${AGENT_KEY}: ${behind.slice(0, 20).join(', ')}.`);
  }
  if (typeof named === 'string' && behind.includes(named)) return named;
  throw new RequestMalformedError(`metadata.${AGENT_KEY} names no agent that is here for you.`);
}

/** Whom whoever sent a message must have meant; undefined when that was left to the house. */
export function agentMeant(door: Door, named: unknown): string | undefined {
  if (door.kind === 'agent') return door.name;
  return typeof named === 'string' ? named : undefined;
}
