/** What programs get of what was, or could be, imported. */
import { z } from 'zod';
import { failure } from '../../events/catalogue.ts';
import { transcriptPrograms } from '../../events/going-on.ts';

const count = z.number().int().nonnegative();

const transcript = {
  program: z.enum(transcriptPrograms),
  id: z.string().describe('the program’s own id of the conversation'),
  path: z.string(),
  bytes: count,
};

const bundle = z.object({
  troupe: z.string().describe('the version that made the bundle'),
  bundle: z.string().describe('its SHA-256, unpacked'),
  signedBy: z.string().nullable().describe('the name of the key; null when it is not signed'),
  sessions: z.array(
    z.object({
      ...{ session: z.string(), events: count },
      sealed: count.describe('events without their exact payload, because a secret is sealed in it'),
      gone: count.describe('attachments that were collected before'),
      here: z.enum(['imported', 'original']).optional().describe('it was here before, and nothing was stored of it'),
    }),
  ),
  agents: z.array(z.string()).describe('whose files are in it; they are not installed'),
  stored: z.boolean(),
});

export const imports = z.object({
  imported: z
    .array(
      z.object({
        ...transcript,
        session: z.string(),
        outcome: z
          .enum(['imported', 'completed', 'there already'])
          .describe('`completed`: an earlier import of it had been cut off; `there already`: nothing was written'),
        earlier: z.string().nullable().describe('the session that was made of it when there was less of it'),
        events: count,
        runs: count,
        answers: count,
        results: count,
        records: count.describe('records that nothing else was made of'),
      }),
    )
    .describe('transcripts that are sessions now'),
  refused: z.array(z.object({ path: z.string(), error: failure })).describe('transcripts that could not be taken over'),
  found: z
    .array(
      z.object({
        ...transcript,
        title: z.string().nullable(),
        folder: z.string().nullable(),
        at: count.describe('when it began, in milliseconds since 1970'),
        session: z.string().nullable().describe('the session that was made of it as it is'),
      }),
    )
    .describe('with --list: transcripts of this project that are on this machine'),
  bundle: bundle.optional().describe('of a bundle: what was in it'),
});
export type Imports = z.infer<typeof imports>;
