/** What the runtime saw with its own eyes: commands that ran, what they printed and changed, whether tests passed. */
import { z } from 'zod';

export const evidenceEvents = {
  'cli.run': z.object({
    command: z.string(),
    cwd: z.string(),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    durationMs: z.number(),
    /** Files that are closed to agents and were changed meanwhile. */
    protected: z.array(z.string()).optional(),
    /** Ended from outside: whatever its exit code, it did not come to its own end. */
    stopped: z.enum(['timeout', 'cancelled']).optional(),
    /** The walls that it ran in; absent where there were none. */
    sandbox: z.string().optional(),
    /** The commands of the line that ended with 0 for sure, each in the one form that claims are compared with. */
    proves: z
      .array(
        z.object({
          command: z.string(),
          /** Where it ran, when not in `cwd`. */
          folder: z.string().optional(),
          /** The real path of the program. */
          program: z.string().optional(),
          /** Something that may change files came after it in the line. */
          followed: z.boolean().optional(),
          /** A script behind it that could not be read as commands: a file, or a script of a package.json. */
          unread: z.object({ path: z.string(), script: z.string().optional() }).optional(),
          /** Scripts and makefiles that it goes through. */
          through: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    /** Commands of the line that its exit code says nothing about, and why. */
    unproved: z.array(z.object({ command: z.string(), why: z.string() })).optional(),
    /** The fingerprint of the workspace before and after, or why there is none. */
    workspace: z
      .union([
        z.object({
          before: z.string(),
          after: z.string(),
          /** Somebody else worked in the workspace meanwhile. */
          shared: z.boolean().optional(),
          /** A file was written, moved or replaced, and holds what it held. */
          touched: z.boolean().optional(),
        }),
        z.object({ unknown: z.string() }),
      ])
      .optional(),
  }),
  'cli.stdout': z.object({ bytes: z.number().int(), head: z.string() }),
  'cli.stderr': z.object({ bytes: z.number().int(), head: z.string() }),
  'file.diff': z.object({
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    addedLines: z.number().int(),
    removedLines: z.number().int(),
    diff: z.string(),
    /** Found by comparing the workspace: changed by the command of this step, or by somebody else before it. */
    by: z.enum(['command', 'outside']).optional(),
    /** The file is a program that is run by its name, and no installer left it so: what is wrong about it. */
    program: z.string().optional(),
    /** On the last one that is recorded: how many further changes were found with it, too many to be recorded. */
    more: z.number().int().optional(),
  }),
  'test.report': z.object({
    command: z.string(),
    exitCode: z.number().int().nullable(),
    passed: z.boolean(),
    /** How many tests passed, where the output says so. */
    tests: z.number().int().optional(),
    /** What the output shows of tests that ended before they had run. */
    early: z.string().optional(),
    /** Why an exit code of 0 does not count. */
    why: z.string().optional(),
  }),
} as const;
