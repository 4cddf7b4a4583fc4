/** What programs get of holds and of what is forgotten. */
import { z } from 'zod';

const count = z.number().int().nonnegative();
const milliseconds = z.number().int();
const signed = { by: z.string(), at: milliseconds.describe('since 1970, in milliseconds') };

const hold = z.object({ session: z.string(), reason: z.string(), ...signed, released: z.object(signed).nullable() });

export const sessionStanding = z.object({
  session: z.string(),
  pinned: z.boolean(),
  hold: hold.nullable().describe('while it is held'),
  holds: z.array(hold).describe('all that there ever were, the oldest first'),
  forgotten: z
    .object({
      ...signed,
      upTo: count.describe('up to this event everything is gone'),
      events: count.describe('single events that are gone beside those'),
      unfinished: z.boolean().describe('it was cut off: forget it again'),
    })
    .nullable(),
});

export const forgotten = z.object({
  sessions: z.array(z.string()),
  events: count,
  payloads: count,
  bytes: count,
  shared: z
    .array(z.object({ session: z.string(), payloads: count }))
    .describe('sessions that have some of the same bytes, and keep them'),
  forks: z.array(z.string()).describe('forks that are not among them'),
  pinned: z.array(z.string()),
  folders: z.array(z.string()).describe('beside the ledger, that go too'),
  files: z.array(z.string()).describe('beside the ledger, that still name a session or hold the text'),
  left: z.array(z.string()).describe('what could not be cleared away: forget it again'),
  unreached: z.array(z.string()).describe('what is not in reach'),
  dryRun: z.boolean().describe('nothing was forgotten'),
});
