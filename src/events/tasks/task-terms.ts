/**
 * The terms on which a task is worked on: which files it is about, what it may use up, and where. They stand in the start of its
 * run, so whoever drives that run, here or elsewhere and in any later life, holds it to the same ones.
 */
import { z } from 'zod';

/** Paths relative to the folder; one that ends in `/` stands for all below it. */
const paths = z.array(z.string());
const count = z.number().int().positive();

const place = z.discriminatedUnion('kind', [
  /** A git worktree of the task's own, made from this commit of the repository at `repo`. */
  z.object({ kind: z.literal('worktree'), path: z.string(), base: z.string(), repo: z.string() }),
  z.object({ kind: z.literal('in-place'), path: z.string() }),
]);
/** Where a task is worked on. */
export type TaskPlace = z.infer<typeof place>;

const limits = z.object({
  maxCliCalls: count,
  maxDurationMs: count,
  maxMemoryMb: count,
  maxUsd: z.number().nonnegative().optional(),
});

export const taskTerms = z.object({
  /** Its id, which follows from the step that made it. */
  task: z.string(),
  include: paths,
  exclude: paths,
  noTouch: paths,
  limits,
  mode: z.enum(['full', 'read-only']),
  place,
  /** The recorded package that was handed over: its event, as a reference. */
  package: z.string(),
});
export type TaskTerms = z.infer<typeof taskTerms>;
