/** How many assistants somebody may have and how long they may take: the same for agents and for clients outside. */
import { limits } from '../../base/limits.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { AssistantLimits, HostAccess } from '../options.ts';
import type { TimeLimit } from '../spending/budget.ts';

/** One that was spawned, as far as it counts. */
export interface Counted {
  readonly atWork: boolean;
  /** It has not ended, and nothing happens in it until somebody has answered or lets it go on. */
  readonly waits?: boolean | undefined;
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
    fix: FIXES[kind](setting === 'waiting' ? 'was answered' : 'has ended', `raise assistants.${setting} in troupe.yaml.`),
  });
  if (kind === 'agent' && spawner.depth >= bounds.depth) return tooMany(`assistants may be ${bounds.depth} levels deep`, 'depth');
  if (working(own) >= bounds.perParent)
    return tooMany(`one ${kind} may have ${bounds.perParent} assistants at work at a time`, 'perParent');
  if (own.filter(({ waits }) => waits === true).length >= bounds.waiting)
    return tooMany(`one ${kind} may have ${bounds.waiting} assistants that wait for somebody`, 'waiting');
  if (kind === 'agent' && working(spawner.inSession) >= bounds.perSession)
    return tooMany(`a session may have ${bounds.perSession} assistants at work at a time`, 'perSession');
  return undefined;
}

const working = (all: readonly Counted[]): number => all.filter(({ atWork }) => atWork).length;

/** A client changes no settings: it is told what it can do itself, and what to pass on. */
const FIXES: Readonly<Record<Spawner['kind'], (until: string, raise: string) => string>> = {
  agent: (until, raise) => `Wait until one ${until}, or ${raise}`,
  client: (until, raise) => `Wait until one ${until}, or cancel one. For whoever runs the server: ${raise}`,
};

export function assistantLimits({ assistants = {} }: Pick<HostAccess, 'assistants'>): AssistantLimits {
  return {
    active: assistants.active ?? limits.assistantsActive,
    perParent: assistants.perParent ?? limits.assistantsPerParent,
    waiting: assistants.waiting ?? limits.assistantsWaiting,
    perSession: assistants.perSession ?? limits.assistantsPerSession,
    depth: assistants.depth ?? limits.assistantDepth,
    lifetimeMs: assistants.lifetimeMs ?? limits.assistantLifetimeMs,
  };
}

/** How long anybody waits for an assistant. */
export function assistantLifetime(access: Pick<HostAccess, 'assistants'>): TimeLimit {
  return { milliseconds: assistantLimits(access).lifetimeMs, setting: 'assistants.lifetime' };
}
