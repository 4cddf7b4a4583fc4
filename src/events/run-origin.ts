/**
 * How a run came to be. The three first kinds are root runs, the others were asked for by a run above them. Of an agent that
 * does not run as a whole, with all patterns that its file declares, the kind says what of it does.
 */
import { z } from 'zod';
import { clientRights, whereSaid } from './assistants.ts';
import { budget } from './going-on.ts';
import { peerParts } from './message-schemas.ts';
import { type TaskTerms, taskTerms } from './tasks/task-terms.ts';

/** A place in a team: whose, as whom, in which cycle, and the turns it took in earlier ones. */
const seat = z.object({
  team: z.string(),
  member: z.string(),
  role: z.enum(['member', 'supervisor']),
  cycle: z.number().int().positive(),
  turnsBefore: z.number().int().nonnegative(),
  /** Nobody is left to broadcast to: only the report is possible. */
  alone: z.boolean().optional(),
  /** The supervisor of its own team: its handoff belongs to the team's run. */
  own: z.boolean().optional(),
});
export type Seat = z.infer<typeof seat>;

/**
 * As what an agent's own loop is wanted and nothing else: to plan, speak, judge or choose, to work with its own tools, or to
 * look, ask and hand over without hands.
 */
const loopAs = z.enum(['planner', 'speaker', 'evaluator', 'chooser', 'self', 'architect']);
export type LoopAs = z.infer<typeof loopAs>;

/** Tightens the agent's own limit. */
const maxTurns = z.number().int().nonnegative();

/** The run whose pattern asked for it, as what, and in words why. */
const byPattern = { parent: z.string(), role: z.string(), reason: z.string().optional() };

/** What a peer said when it asked by A2A: its message's id and a hash of it, and which tenant and context it named. */
const peerRequest = z.object({
  message: z.string(),
  digest: z.string(),
  /** Absent when it named none. */
  tenant: z.string().optional(),
  /** Its own word for the conversation, when that is not the session's id. */
  context: z.string().optional(),
  /** What it sent, where that was more than words. */
  parts: peerParts.optional(),
});
export type PeerRequest = z.infer<typeof peerRequest>;

/** What all runs that name the same account may use together, whichever process works on them. */
const account = z.object({ name: z.string(), limit: budget });
export type Account = z.infer<typeof account>;

/** Whose conversation in this session it goes on with: a group's member keeps its own between prompts. */
const member = z.string().optional();

/** How free a run is, and all runs below it: `read-only` closes what writes or runs, `full` answers what the rules would ask. */
export const runMode = z.enum(['read-only', 'full']);
export type RunMode = z.infer<typeof runMode>;

export const runOrigin = z.discriminatedUnion('kind', [
  /** `client`: the program that they sit at, when it is not the terminal; `name`: who they are, where they had to say so. */
  z.object({
    kind: z.literal('person'),
    client: z.string().optional(),
    name: z.string().optional(),
    mode: runMode.optional(),
  }),
  /** Spawned by a client outside: it has a thread of its own. */
  z.object({
    kind: z.literal('client'),
    by: z.string(),
    rights: clientRights.optional(),
    a2a: peerRequest.optional(),
    account: account.optional(),
  }),
  /** A prompt to a group that lasts, or to one member of it; with the folders of members that have one of their own. */
  z.object({
    ...{ kind: z.literal('group'), member, workspaces: z.record(z.string(), z.string()).optional() },
    /** Who prompted it, where they had to say so, and where. */
    person: z.object({ by: z.string(), where: whereSaid }).optional(),
  }),
  /** Called as a sub-agent, and in the caller's words why. */
  z.object({ kind: z.literal('call'), parent: z.string(), reason: z.string().optional() }),
  /** A sub-agent that has answered is asked again. */
  z.object({ kind: z.literal('clarification'), parent: z.string(), maxTurns }),
  /** Spawned by an agent: it works beside its parent and has a thread of its own. */
  z.object({ kind: z.literal('assistant'), parent: z.string(), by: z.string() }),
  /** The whole agent, in somebody's pattern. */
  z.object({ kind: z.literal('pattern'), ...byPattern, member }),
  /** It speaks by broadcast, in a team. */
  z.object({ kind: z.literal('seat'), ...byPattern, seat, maxTurns: maxTurns.optional() }),
  z.object({
    kind: z.literal('loop'),
    ...byPattern,
    as: loopAs,
    member,
    maxTurns: maxTurns.optional(),
    /** Turns that it took in earlier runs of the same work, where they are counted together. */
    turnsBefore: z.number().int().nonnegative().optional(),
    /** Ways to end that are not offered. */
    closed: z.array(z.string()).optional(),
  }),
  /** The whole agent, on one task and on its terms: the run's folder is where they say. */
  z.object({ kind: z.literal('task'), ...byPattern, terms: taskTerms }),
]);
export type RunOrigin = z.infer<typeof runOrigin>;
export type RootOrigin = Extract<RunOrigin, { readonly kind: 'person' | 'client' | 'group' }>;

type SpawnOrigin = Extract<RunOrigin, { readonly by: string }>;

interface Started {
  readonly origin: RunOrigin;
}

/** The run that asked for this one; none for a root. */
export function parentRun({ origin }: Started): string | undefined {
  return 'parent' in origin ? origin.parent : undefined;
}

/** What it is to whoever asked for it; nothing for the root run of a person or a group. */
export function roleInTree({ origin }: Started): string | undefined {
  switch (origin.kind) {
    case 'person':
    case 'group':
      return undefined;
    case 'client':
    case 'assistant':
      return 'assistant';
    case 'call':
    case 'clarification':
      return 'sub-agent';
    default:
      return origin.role;
  }
}

export function reasonInTree({ origin }: Started): string | undefined {
  if (origin.kind === 'clarification') return origin.kind;
  return 'reason' in origin ? origin.reason : undefined;
}

/** Who spawned it, and what may be done in its name; nobody did when it has no thread. */
export function spawnerOf({ origin }: Started): SpawnOrigin | undefined {
  return 'by' in origin ? origin : undefined;
}

export function memberOfGroup({ origin }: Started): string | undefined {
  return 'member' in origin ? origin.member : undefined;
}

export function teamSeat({ origin }: Started): Seat | undefined {
  return origin.kind === 'seat' ? origin.seat : undefined;
}

/** Nothing for an agent that runs with its patterns, or in a seat. */
export function loopOnlyAs({ origin }: Started): LoopAs | undefined {
  return origin.kind === 'loop' ? origin.as : undefined;
}

/** The terms of the task that the run works on, if it is one's. */
export function taskTermsOf({ origin }: Started): TaskTerms | undefined {
  return origin.kind === 'task' ? origin.terms : undefined;
}

/** Who hears what is broadcast: where, under which name, in which cycle; and whether it leads, and so must pass nothing over. */
export interface Listener {
  readonly channel: string;
  readonly name: string;
  readonly cycle: number;
  readonly leads: boolean;
}

export function listenerOf({ origin }: Started): Listener | undefined {
  if (origin.kind !== 'seat') return undefined;
  const { team, member, cycle, role } = origin.seat;
  return { channel: team, name: member, cycle, leads: role === 'supervisor' };
}

/** Whether somebody may go on with its conversation as long as whoever asked for it is at work. */
export function mayBeAskedAgain(started: Started): boolean {
  return isSubAgent(started) || started.origin.kind === 'seat';
}

/** Whether its end is the end of the agent's work; of work in parts and in cycles that is the end of the run above. */
export function endsItsWork({ origin }: Started): boolean {
  return origin.kind !== 'loop' && !(origin.kind === 'seat' && origin.seat.own === true);
}

/** Somebody who only plans, speaks or judges has nothing to do it with. */
export function usesTools(started: Started): boolean {
  const as = loopOnlyAs(started);
  return as === undefined || as === 'architect' || worksForParent(started);
}

/** Ways to end its loop that are not open to it. */
export function closedExits({ origin }: Started): readonly string[] {
  return (origin.kind === 'loop' ? origin.closed : undefined) ?? [];
}

/** It does the work of the run above it, and speaks and hears in its name. */
export function worksForParent(started: Started): boolean {
  return loopOnlyAs(started) === 'self';
}

export function turnsAllowed({ origin }: Started): number | undefined {
  return 'maxTurns' in origin ? origin.maxTurns : undefined;
}

/** Turns that count together with its own and were taken in runs before. */
export function turnsBefore({ origin }: Started): number {
  return (origin.kind === 'seat' ? origin.seat.turnsBefore : origin.kind === 'loop' ? origin.turnsBefore : undefined) ?? 0;
}

/** Whether the run above started it because of what that is, and not because a model asked for it. */
export function isStartedByPattern({ origin }: Started): boolean {
  return 'role' in origin;
}

/** What was said of this run itself; what was said of one above it holds as well. */
export function modeSaid({ origin }: Started): RunMode | undefined {
  if (origin.kind === 'person') return origin.mode;
  // What a task in full mode may do is what its agent may do anyway.
  return origin.kind === 'task' && origin.terms.mode === 'read-only' ? 'read-only' : undefined;
}

/** Whether it answers a call of its parent, for the first time or again. */
export function isSubAgent({ origin }: Started): boolean {
  return origin.kind === 'call' || origin.kind === 'clarification';
}
