/** How many assistants somebody may have and how long they may take: the same for agents and for clients outside. */
import { limits } from '../../base/limits.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { AssistantLimits, HostAccess } from '../options.ts';
import type { TimeLimit } from '../spending/budget.ts';

/** One that was spawned, as far as it counts. */
export interface Counted {
  readonly atWork: boolean;
}

/** Who asks for one more, and what they have. */
export type Spawner =
  | {
      readonly kind: 'agent';
      /** How many of the runs from here up were spawned. */
      readonly depth: number;
      readonly own: readonly Counted[];
      readonly inSession: readonly Counted[];
    }
  /** Each of its assistants begins a session of its own. */
  | { readonly kind: 'client'; readonly own: readonly Counted[] };

/** Why one more is too many, if it is. */
export function spawnRefusal(bounds: AssistantLimits, spawner: Spawner): Failure | undefined {
  const { kind, own } = spawner;
  const tooMany = (limit: string, setting: keyof AssistantLimits): Failure => ({
    code: 'too_many_assistants',
    message: `Not spawned: ${limit}.`,
    fix: FIXES[kind](`raise assistants.${setting} in troupe.yaml.`),
  });
  if (kind === 'agent' && spawner.depth >= bounds.depth) return tooMany(`assistants may be ${bounds.depth} levels deep`, 'depth');
  if (working(own) >= bounds.perParent)
    return tooMany(`one ${kind} may have ${bounds.perParent} assistants at work at a time`, 'perParent');
  if (kind === 'agent' && working(spawner.inSession) >= bounds.perSession)
    return tooMany(`a session may have ${bounds.perSession} assistants at work at a time`, 'perSession');
  return undefined;
}

const working = (all: readonly Counted[]): number => all.filter(({ atWork }) => atWork).length;

/** A client changes no settings: it is told what it can do itself, and what to pass on. */
const FIXES: Readonly<Record<Spawner['kind'], (raise: string) => string>> = {
  agent: (raise) => `Wait until one has ended, or ${raise}`,
  client: (raise) => `Wait until one has ended, or cancel one. For whoever runs the server: ${raise}`,
};

export function assistantLimits({ assistants = {} }: Pick<HostAccess, 'assistants'>): AssistantLimits {
  return {
    active: assistants.active ?? limits.assistantsActive,
    perParent: assistants.perParent ?? limits.assistantsPerParent,
    perSession: assistants.perSession ?? limits.assistantsPerSession,
    depth: assistants.depth ?? limits.assistantDepth,
    lifetimeMs: assistants.lifetimeMs ?? limits.assistantLifetimeMs,
  };
}

/** How long anybody waits for an assistant. */
export function assistantLifetime(access: Pick<HostAccess, 'assistants'>): TimeLimit {
  return { milliseconds: assistantLimits(access).lifetimeMs, setting: 'assistants.lifetime' };
}
