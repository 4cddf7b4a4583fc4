/**
 * What is recorded of executors. What one says that it does is its word (`executor.call`, `executor.result`, `executor.planned`)
 * and no evidence: that comes from what the runtime saw itself.
 */
import { z } from 'zod';
import { jsonValue } from '../message-schemas.ts';

/** Of a failure, when it was an executor: what was the matter with it, and for which limit it was stopped. */
export const ofExecutor = {
  executor: z.enum(['crashed', 'protocol', 'auth', 'unavailable', 'timeout', 'error', 'refusal', 'limit']).optional(),
  category: z.string().optional(),
} as const;

export const executorEvents = {
  /** Who works from here on: on the disk before anything is said to it. Its session is loaded again after a crash. */
  'executor.session': z.object({
    executor: z.string(),
    /** As it says. */
    version: z.string().optional(),
    protocol: z.number().int(),
    /** Its own word for the session. */
    session: z.string(),
    /** `new` where there was none, or it could not be loaded; `live`: the very one that was left. */
    restored: z.enum(['new', 'loaded', 'live']),
    mode: z.string().optional(),
    model: z.string().optional(),
    cwd: z.string(),
    pid: z.number().int().optional(),
    /** What it is kept in. */
    sandbox: z.string().optional(),
    /** What of that which was wanted it cannot do. */
    without: z.array(z.string()).optional(),
  }),
  /** The intent: on the disk before the prompt goes out. */
  'executor.prompted': z.object({
    session: z.string(),
    /**
     * `request`: what the turn has to say; `go-on`: it was cut off, and is told to go on; `again`: another session is told all of
     * it, with what is known to be done; `words`: what somebody said who did not allow something.
     */
    how: z.enum(['request', 'go-on', 'again', 'words']),
    /** What was said to it in our own words. */
    told: z.string().optional(),
  }),
  'executor.call': z.object({
    id: z.string(),
    title: z.string(),
    kind: z.string().optional(),
    locations: z.array(z.string()).optional(),
    input: jsonValue.optional(),
  }),
  'executor.result': z.object({
    id: z.string(),
    status: z.enum(['completed', 'failed']),
    output: z.string(),
    /** Set when `output` is cut. */
    wholeBytes: z.number().int().optional(),
  }),
  /** What it was told when it asked whether it may. */
  'executor.decided': z.object({
    id: z.string(),
    title: z.string(),
    decision: z.enum(['allowed', 'denied', 'cancelled']),
    by: z.enum(['rule', 'person']),
    /** Where somebody was asked. */
    wait: z.string().optional(),
    why: z.string().optional(),
  }),
  'executor.planned': z.object({
    entries: z.array(z.object({ text: z.string(), priority: z.string().optional(), status: z.string() })),
  }),
  /** Its process is over, or was given up. */
  'executor.ended': z.object({
    executor: z.string(),
    session: z.string(),
    /** How the last prompt ended, in its words; or why it did not. */
    stop: z.string().optional(),
    why: z.string().optional(),
    exitCode: z.number().int().optional(),
    signal: z.string().optional(),
    stderr: z.string().optional(),
    /** What of it was left out or cut because it is not the protocol, or too much. */
    notices: z.array(z.string()).optional(),
    /** Processes that had left its group. */
    survivors: z.array(z.string()).optional(),
    /** What the walls that it was kept in have refused it. */
    refused: z.array(z.string()).optional(),
  }),
} as const;
