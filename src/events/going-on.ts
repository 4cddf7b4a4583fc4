/** What has a run stand still for something outside of it, what has it go on, and what it has with it wherever it goes on. */
import { z } from 'zod';
import { jsonValue } from './message-schemas.ts';
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

export const broughtRepository = z.object({
  top: z.string(),
  /** The run's folder, from the top. */
  below: z.string(),
  head: z.string(),
  /** How the files were when the run started, committed or not: what its tasks begin from. */
  base: z.string(),
});

/** What holds for every agent of a tree, whatever their files say. */
export const termsOfTree = z.object({
  model: z.string().optional(),
  maxTurns: z.number().int().positive().optional(),
  vars: z.record(z.string(), z.string()).optional(),
});
export type TreeTerms = z.infer<typeof termsOfTree>;

export const goingOnEvents = {
  /** What goes with a run to machines that have nothing of its project but the ledger. */
  'session.brought': z.object({
    /** Every agent that the run can come to, as it was when the run started, with what the command changed about it. */
    agents: z.array(jsonValue),
    /** Texts of files that these agents name, by their paths. */
    files: z.record(z.string(), z.string()).optional(),
    vars: z.record(z.string(), z.string()).optional(),
    /** Models for agents that name none. */
    models: z.array(z.string()).optional(),
    /** What the settings allow, ask for and deny; whoever works on the run is not less strict. */
    permissions: z.array(jsonValue).optional(),
    /** What the settings demand of every root run. */
    verify: jsonValue.optional(),
    /** Where the run hands out tasks: the repository of its folder, whose files follow in `workspace.packed`. */
    repository: broughtRepository.optional(),
  }),
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
