/** What has a run stand still for something outside of it, and what has it go on. */
import { z } from 'zod';
import { outsideReason } from './outside-reason.ts';

export const budget = z.object({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().int().nonnegative().optional(),
  calls: z.number().int().nonnegative().optional(),
  depth: z.number().int().nonnegative().optional(),
  wallMs: z.number().int().nonnegative().optional(),
});
/** What a run and all below it may use: dollars, tokens, model calls, levels of sub-agents, milliseconds. */
export type Budget = z.infer<typeof budget>;

export const goingOnEvents = {
  /** A root run stands still: what it needs cannot be had just now, and everything that it could try was tried. */
  'run.parked': z.object({
    reason: outsideReason,
    error: z.object({ code: z.string(), message: z.string(), fix: z.string().optional() }),
  }),
  /** A run goes on that had ended, or goes on under other terms. What it did before counts, but for what is undone. */
  'run.reopened': z.object({
    /** Positions of events that made it end, or followed from that: they stay, and the run goes on as if they were not there. */
    undone: z.array(z.number().int().positive()),
    /** Limits in the place of those that the run had, limit by limit. */
    budget: budget.optional(),
    /** Of a root run: in the place of the models, and of the turns, of every agent in its tree from now on. */
    model: z.string().optional(),
    maxTurns: z.number().int().positive().optional(),
  }),
  /** A person takes back what they said: later runs go on with what was there before this one. What it did stays done. */
  'run.withdrawn': z.object({}),
} as const;
