/** What is recorded of tasks that are handed over: what was known, what was handed over, and what came of it. */
import { z } from 'zod';
import { verification } from '../verification.ts';
import { mergeConflict } from './workspace-events.ts';

/** An event of the session, by the run and the step that recorded it. */
const eventRef = z.object({ run: z.string(), step: z.string(), type: z.string() });
export type RecordedStep = z.infer<typeof eventRef>;

/** What becomes of a task that goes on failing, by the words of the settings. */
export const failureAction = z.enum(['downgrade_executor', 'shrink_scope', 'cancel_and_report']);

const task = { task: z.string(), attempt: z.number().int().positive() };

export const taskEvents = {
  /** What is known when a task is handed over: references that can be looked up, and the text that was made of them. */
  'task.snapshot': z.object({
    ...task,
    /** The SHA-256 of the references and the text, in this order: made again from the same events, it is the same. */
    hash: z.string(),
    events: z.array(eventRef),
    /** Events that would have been referred to, were there not so many. */
    left: z.number().int().positive().optional(),
    context: z.string(),
  }),
  'task.package': z.object({
    ...task,
    executor: z.string(),
    /** As it is handed over. */
    yaml: z.string(),
    /** Stands for it in the terms of the run that works on it. */
    ref: z.string(),
    /** Lines of the acceptance that the runtime runs as commands; the others are judged. */
    verify: z.array(z.string()),
    /** The task that this one does again, with another scope. */
    again: z.string().optional(),
    /** Only shown: nobody is handed it before the run is resumed. */
    planned: z.literal(true).optional(),
  }),
  /** A limit was reached or an error came again: what the settings have happen then. */
  'task.policy': z.object({
    ...task,
    trigger: z.enum(['error', 'repeated_error', 'timeout', 'memory', 'cli_calls', 'cost', 'stalled']),
    action: z.union([z.literal('retry'), failureAction]),
    executor: z.string(),
    /** Who gets it instead. */
    to: z.string().optional(),
    why: z.string(),
    /** What is the same about errors that are the same, and how often it came. */
    error: z.object({ shape: z.string(), count: z.number().int().positive() }).optional(),
  }),
  'task.judged': z.object({
    ...task,
    verdict: z.enum(['accepted', 'again', 'given_up']),
    /** Who says so: whoever handed it over, its acceptance, or the limits. */
    by: z.enum(['architect', 'acceptance', 'policy']),
    why: z.string(),
    /** Each line: run by the runtime, or judged by whoever handed it over, which proves nothing. */
    acceptance: z.array(
      z.object({
        line: z.string(),
        how: z.enum(['run', 'judged']),
        met: z.boolean(),
        why: z.string().optional(),
        /** How the same command ended where the task began; `unknown` where that says nothing. Absent where nobody looked. */
        before: z.enum(['passed', 'failed', 'unknown']).optional(),
      }),
    ),
    verification,
  }),
  /** What was accepted so far in one patch, and what does not fit together. Nothing of what is left out is lost. */
  'task.merged': z.object({
    tasks: z.array(z.string()),
    /** What later tasks begin from. */
    commit: z.string().optional(),
    patch: z.string().optional(),
    files: z.number().int().nonnegative(),
    conflicts: z.array(
      z.object({
        path: z.string(),
        /** The last of them is left out, and the others are those that it stands against. */
        tasks: z.array(z.string()),
        why: z.string().optional(),
        ...mergeConflict.pick({ kind: true, sides: true, hunks: true }).partial().shape,
      }),
    ),
  }),
} as const;
