/** What keeps the work on tasks from going on for ever: questions in rounds, and limits by their recorded names. */
import { z } from 'zod';
import { jsonValue } from '../message-schemas.ts';
import { failureAction } from './task-events.ts';

const count = z.number().int().nonnegative();

/** The limits of a session in which tasks are handed over, and what happens when they are reached. */
export const convergence = z.object({
  limits: z.object({
    max_clarify_rounds_per_task: count,
    max_cli_calls_per_task: count,
    max_cli_duration_seconds: count,
    max_cli_memory_mb: count,
    max_same_error_retries: count,
    context_summarize_threshold: count,
    max_usd_per_task: z.number().nonnegative().optional(),
    max_seconds_without_progress: count.optional(),
  }),
  failure_policy: z.object({ on_repeated_error: failureAction, on_timeout: failureAction }),
  summarization: z.object({ mode: z.literal('event_level'), keep_original_refs: z.literal(true) }),
});
export type Convergence = z.infer<typeof convergence>;

/** In which round a question is asked, and how many there may be before a task is handed over. */
const clarifyRound = z.object({ number: z.number().int().positive(), most: z.number().int().positive() });
export type ClarifyRound = z.infer<typeof clarifyRound>;

/** A question to a person; its answer has the same `wait`. */
export const clarifying = z.object({
  wait: z.string(),
  question: z.string(),
  choices: z.array(z.string()).optional(),
  round: clarifyRound.optional(),
});

/** A tool that ended a loop, and what it carries. */
export const loopExit = z.object({
  tool: z.string(),
  value: jsonValue,
});
