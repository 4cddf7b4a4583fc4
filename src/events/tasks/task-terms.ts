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

/** What was found where a task was worked on, when its work was over. Only the runtime writes it. */
export const taskCaptured = z.object({
  task: z.string(),
  files: z.array(z.object({ path: z.string(), added: z.number().int(), removed: z.number().int() })),
  /** All of it as one patch; absent where nothing was changed. */
  patch: z.string().optional(),
  /** The same as text, bounded. */
  diff: z.string().optional(),
  /** What lay outside of the terms: taken back, where `kept` says what holds it; otherwise only noticed. */
  undone: z.array(z.object({ path: z.string(), why: z.string().optional(), kept: z.string().optional() })),
  /** Work that no patch can hold, each with why: it is at the place of the task, and nowhere else. */
  missing: z.array(z.string()).optional(),
  /** Why nothing could be captured. */
  failed: z.string().optional(),
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
  /** Commands that the runtime runs when the work is said to be done, and that decide whether it is. */
  verify: z.array(z.string()).optional(),
  /** Nobody works: only these commands are run there. */
  onlyVerify: z.boolean().optional(),
  /** The recorded package that was handed over: its event, as a reference. */
  package: z.string(),
});
export type TaskTerms = z.infer<typeof taskTerms>;
