/** What patterns record about themselves: whom they chose, what was said, how far they are. */
import { z } from 'zod';
import { runStatus } from './run-status.ts';
import { taskEvents } from './tasks/task-events.ts';
import { verification } from './verification.ts';

const share = z.number().min(0).max(1);

/** How many iterations a reflect loop took, and how it ended in words for people. */
const loopEnd = { iterations: z.number().int(), summary: z.string() };

export const patternEvents = {
  'handoff.made': z.object({ to: z.string(), include: z.enum(['report', 'request']) }),
  'router.chose': z.object({ agent: z.string(), message: z.string().optional() }),
  'advisor.reported': z.object({ advisor: z.string(), finalAgent: z.string(), status: runStatus, verification }),
  'team.broadcast': z.object({
    team: z.string(),
    cycle: z.number().int().positive(),
    type: z.enum(['update', 'failure']),
    memberId: z.string(),
    message: z.string(),
    /** Turns the member has taken so far. */
    turnCount: z.number().int().nonnegative(),
    timestamp: z.string(),
    /** The member leaves with this. */
    final: z.boolean().optional(),
    /** Stands for a broadcast that was too large for one reader; only that reader sees it. */
    replaces: z.object({ run: z.string(), step: z.string(), reader: z.string() }).optional(),
  }),
  'member.exited': z.object({ team: z.string(), memberId: z.string(), cycle: z.number().int().positive(), reason: z.string() }),
  'group.planned': z.object({
    iteration: z.number().int().positive(),
    assignments: z.array(z.object({ worker: z.string(), task: z.string() })),
    unknown: z.array(z.string()),
    /** How often the orchestrator had to be told to delegate before this. */
    nudges: z.number().int().nonnegative(),
    /** These tasks were handed out; without it, the orchestrator was asked again or the group ended. */
    accepted: z.boolean().optional(),
    /** Nothing was assigned, and the orchestrator's own words are the answer. */
    direct: z.boolean().optional(),
  }),
  'group.evaluated': z.object({
    iteration: z.number().int().positive(),
    score: z.number(),
    rationale: z.string(),
    dimensions: z.record(z.string(), z.number()).optional(),
    trend: z.enum(['improving', 'stable', 'degrading']),
    evaluator: z.string(),
    goalMet: z.boolean(),
    /** What could be done better in the next iteration; told, never done by itself. */
    advice: z.array(z.string()).optional(),
  }),
  'group.stalled': z.object({
    iteration: z.number().int().positive(),
    similarity: z.number(),
    consecutive: z.number().int(),
    stops: z.boolean(),
  }),
  'group.ended': z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('met'), reason: z.enum(['goal_met', 'nothing_left']), ...loopEnd }),
    /** Nothing left to do is not enough where somebody judges and has found the goal missed. */
    z.object({
      outcome: z.literal('missed'),
      reason: z.enum(['nothing_left', 'max_iterations', 'stalled', 'error_budget', 'no_assignments', 'all_failed']),
      ...loopEnd,
    }),
    /** Ended from outside of the loop. */
    z.object({ outcome: z.literal('cut_off'), reason: z.enum(['cancelled', 'budget_exhausted']), ...loopEnd }),
  ]),
  /** Whom somebody chose for a request, how sure it was, and what becomes of it. */
  'dispatch.chose': z.object({
    agentId: z.string(),
    confidence: share,
    reasoning: z.string().optional(),
    additionalAgents: z.array(z.string()).optional(),
    agentInstructions: z.array(z.object({ agentId: z.string(), instruction: z.string() })).optional(),
    decision: z.enum(['route', 'clarification', 'fallback']),
    /** Grows with every question that was answered. */
    round: z.number().int().positive(),
    /** Answers of the model that it took: none where it was not asked. */
    attempts: z.number().int().nonnegative(),
    /** Who would have been chosen with more confidence. */
    proposed: z.string().optional(),
    /** Named, and not asked: nobody has the id, or nothing was said of what to do. */
    leftOut: z.array(z.string()).optional(),
    /** Stands for the request and all else that the choice rests on. */
    key: z.string().optional(),
    /** As it was chosen before for the same. */
    recalled: z.boolean().optional(),
  }),
  'dispatch.responded': z.object({
    agentId: z.string(),
    content: z.string(),
    success: z.boolean(),
    errorMessage: z.string().nullable(),
    executionTimeMs: z.number().int().nonnegative(),
    attempts: z.number().int().positive(),
    status: runStatus,
    verification,
    /** It ends with a question for whoever asked. */
    needsInput: z.boolean().optional(),
  }),
  ...taskEvents,
} as const;
export type PatternEventType = keyof typeof patternEvents;

export const patternEventTypes = Object.keys(patternEvents) as readonly PatternEventType[];

/** Those that only say how something ended: a run that goes on after its end goes on as if they had not been recorded. */
export const patternEndTypes: readonly PatternEventType[] = [
  'advisor.reported',
  'dispatch.responded',
  'group.ended',
  'member.exited',
];

/** Broadcasts: what a run says to others, which is heard in their requests. */
export const broadcastTypes = ['team.broadcast'] as const satisfies readonly PatternEventType[];
