/** What a run that is condensed writes down of what others need to go on: of its session, and of the agents it may ask again. */
import { z } from 'zod';
import { verification } from './verification.ts';

/** Rules that were remembered for the whole session, and the latest run of each member of its group, by its place there. */
const member = z.object({ path: z.string(), run: z.string() });
/**
 * A file that was changed so that tests may prove less: it stays open, over all prompts of the session, until it is put back or
 * somebody else has committed it.
 */
export const openChange = z.object({
  folder: z.string(),
  path: z.string(),
  /** Its SHA-256 before the session's first change of it; `null` where there was none. */
  before: z.string().nullable(),
  /** Positions of its `file.diff`s, oldest first. */
  changes: z.array(z.number().int().positive()),
  /** The last commit held it so when the run ended: then whoever committed it was no one else. */
  committed: z.boolean().optional(),
});
export const sessionFacts = z.object({
  approved: z.array(z.string()),
  members: z.array(member),
  open: z.array(openChange).optional(),
});

export const frozenChild = z.object({
  id: z.string(),
  agent: z.string(),
  run: z.string(),
  chat: z.boolean(),
  turnsRemaining: z.number().int(),
  verification,
});
