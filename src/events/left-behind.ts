/** What a run that is condensed writes down of what others need to go on: of its session, and of the agents it may ask again. */
import { z } from 'zod';
import { verification } from './verification.ts';

/** Rules that were remembered for the whole session, and the latest run of each member of its group, by its place there. */
const member = z.object({ path: z.string(), run: z.string() });
export const sessionFacts = z.object({ approved: z.array(z.string()), members: z.array(member) });

export const frozenChild = z.object({
  id: z.string(),
  agent: z.string(),
  run: z.string(),
  chat: z.boolean(),
  turnsRemaining: z.number().int(),
  verification,
});
