/** What programs get of searching, and of what a request to a model contained. */
import { z } from 'zod';

const count = z.number().int().nonnegative();

export const found = z.object({
  found: z.array(
    z.object({
      event: z.string(),
      session: z.string(),
      position: count,
      run: z.string(),
      type: z.string(),
      at: z.string(),
      actor: z.string(),
      text: z.string().describe('around the first word that was looked for; words of agents and tools'),
    }),
  ),
  complete: z.boolean().describe('false while the index has not read everything yet: ask again for more'),
  next: count.nullable().describe('what `before` takes for the next page; null on the last'),
});

const size = { parts: count, characters: count, tokens: count.describe('an estimate') };

export const requestContext = z.object({
  run: z.string(),
  session: z.string(),
  turn: count,
  model: z.string(),
  position: count.describe('of the model.request'),
  total: z.object(size),
  inputTokens: z.number().nullable().describe('what the provider counted; null without an answer, or when it did not say'),
  byOrigin: z.array(z.object({ origin: z.string(), ...size })).describe('largest first'),
  parts: z
    .array(
      z.object({
        origin: z.string().describe('system, tools, input, answer, `tool <name>`, or runtime'),
        characters: count,
        tokens: count,
        from: z.string().nullable().describe('the run and step that it came from'),
        text: z.string().describe('how it begins'),
      }),
    )
    .describe('in the order of the request'),
  leftOut: count.describe('parts at the beginning that are not listed'),
});
