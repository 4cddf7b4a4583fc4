/**
 * Whose files are whose, and what was brought to the user's files. Leases are written in a session of their own, one per
 * ledger; what a person applies in that of the run it comes from.
 */
import { z } from 'zod';

const paths = z.array(z.string());

export const domainPaths = z.object({ include: paths, exclude: paths, noTouch: paths });

const side = z.object({
  task: z.string(),
  mode: z.string().optional(),
  /** Git's name for the content; absent where the file is not there. */
  blob: z.string().optional(),
});

export const mergeConflict = z.object({
  path: z.string(),
  /** As git calls it. */
  kind: z.string(),
  says: z.string(),
  sides: z.array(side),
  hunks: z.array(z.object({ line: z.number().int(), base: z.string(), ours: z.string(), theirs: z.string() })),
});

export const patchRef = z.object({
  sha256: z.string(),
  bytes: z.number().int().nonnegative(),
  /** Where it is kept. */
  ref: z.string().optional(),
});

/** A file at one moment: its bytes are in the attachment, one after the other; without both it is gone. */
const keptFile = z.object({
  path: z.string(),
  mode: z.string().optional(),
  bytes: z.number().int().nonnegative().optional(),
  /** Its text, where that holds a secret: sealed with the event. */
  text: z.string().optional(),
  /** Again as it was where the task began. */
  back: z.literal(true).optional(),
});

export const workspaceEvents = {
  /** A part of the files of a commit, as attached: they go with a run to workers elsewhere. */
  'workspace.packed': z.object({ head: z.string(), index: z.number().int().nonnegative(), bytes: z.number().int() }),
  /** What has changed at a place since it was kept last: with all of them, it can be built anywhere. */
  'workspace.kept': z.object({
    /** Whose place; absent for what is not committed where the run started. */
    task: z.string().optional(),
    /** Who kept it, and their how many-th it is: they know whether it is theirs. */
    by: z.string(),
    point: z.number().int().positive(),
    files: z.array(keptFile),
    /** Files that hold a secret which cannot be sealed: they do not travel. */
    without: z.array(z.string()).optional(),
  }),
  'domain.leased': z.object({
    /** Greater than that of every lease before it. */
    token: z.number().int().positive(),
    task: z.string(),
    session: z.string(),
    /** Who would go on with the task: when that run has ended, so has the lease. */
    run: z.string(),
    /** The top of the repository, or the folder. */
    repo: z.string(),
    ...domainPaths.shape,
    /** The lease of the same task that this one takes the place of. */
    insteadOf: z.number().int().optional(),
    /** Somebody assigns who works on the run: that nobody does just now does not end the lease. */
    assigned: z.boolean().optional(),
  }),
  'domain.released': z.object({ token: z.number().int().positive(), why: z.enum(['done', 'ended', 'left']) }),
  'apply.made': z.object({
    apply: z.string(),
    repo: z.string(),
    base: z.string(),
    patch: patchRef,
    /** Absent: to the working tree. */
    branch: z.string().optional(),
    commit: z.string().optional(),
    files: z.array(z.string()),
    /** How many further files, too many to be listed. */
    more: z.number().int().optional(),
  }),
  'apply.undone': z.object({ apply: z.string() }),
} as const;
