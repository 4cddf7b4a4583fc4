/** The agents of a group as they are kept with it: the one that declares it, and every agent that it can come to. */

import type { AgentDefinition } from '../agents/definition/definition.ts';
import { referencesOf } from '../agents/definition/references.ts';
import type { SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { createRecentlyUsed } from '../base/recently-used.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { readExactly } from '../engine/record/read-all.ts';
import type { Failure } from '../events/catalogue.ts';
import type { GroupMember } from '../events/organisation.ts';
import type { Ledger } from '../ledger/port.ts';
import { workersOf } from '../patterns/group/workers.ts';
import { ORGANISATION } from '../projections/groups.ts';

export type FindAgent = (name: string) => Promise<AgentDefinition | undefined>;

export async function agentsOfGroup(root: AgentDefinition, find: FindAgent): Promise<Result<AgentDefinition[], Failure>> {
  const found = new Map([[root.name, root]]);
  const pending = [root];
  for (let agent = pending.pop(); agent !== undefined; agent = pending.pop()) {
    for (const { target } of referencesOf(agent)) {
      if (found.has(target)) continue;
      const next = await find(target);
      if (next === undefined)
        return fail({
          code: 'unknown_agent',
          message: `${agent.name} names ${target}, and there is no such agent.`,
          fix: '`troupe check` says where.',
        });
      if (found.size >= limits.agentFilesPerFolder)
        return fail({
          code: 'limit',
          message: `The group has more than ${limits.agentFilesPerFolder} agents (agentFilesPerFolder).`,
        });
      found.set(target, next);
      pending.push(next);
    }
  }
  return ok([...found.values()]);
}

/** Who is in the group, by the names under which they are spoken to. */
export function membersOf({ name, group, models }: AgentDefinition): GroupMember[] {
  if (group === undefined) return [];
  const leads = group.mode === 'orchestrator' || group.mode === 'reflect';
  const [model] = models;
  const orchestrator: GroupMember = { name, agent: name, role: 'orchestrator', ...present({ model }) };
  const workers = workersOf(group).map(
    (worker): GroupMember => ({
      name: worker.name,
      agent: worker.agent,
      role: 'worker',
      ...present({ model: worker.model }),
    }),
  );
  const { evaluator } = group;
  const judge: GroupMember[] = evaluator === undefined ? [] : [{ name: evaluator, agent: evaluator, role: 'evaluator' }];
  return [...(leads ? [orchestrator] : []), ...workers, ...judge];
}

/** What an event keeps of a definition, and the way back. */
export const kept = (definition: AgentDefinition): Json => definition as unknown as Json;
const restored = (json: Json): AgentDefinition => json as unknown as AgentDefinition;

/** The agents of the group that talks in a session. Read once for each that is talked in: they never change. */
export function createSavedAgents(ledger: Ledger): (session: SessionId, name: string) => Promise<AgentDefinition | undefined> {
  const bySession = createRecentlyUsed<SessionId, Promise<ReadonlyMap<string, AgentDefinition>>>(limits.groupSessionsKept);
  const read = async (session: SessionId): Promise<ReadonlyMap<string, AgentDefinition>> => {
    const created = await readExactly(ledger, ORGANISATION, { types: ['group.created'] });
    const own = created.find((event) => event.event_type === 'group.created' && event.payload.session === session);
    if (own?.event_type !== 'group.created') return new Map();
    return new Map(own.payload.agents.map((json) => restored(json as Json)).map((agent) => [agent.name, agent]));
  };
  return async (session, name) => {
    const known = bySession.get(session) ?? read(session);
    bySession.set(session, known);
    return (await known).get(name);
  };
}
