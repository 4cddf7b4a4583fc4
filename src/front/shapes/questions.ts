/** What programs get of questions to the ledger. */
import { z } from 'zod';
import { endingReasons } from '../../projections/answers/ending.ts';
import { absenceReasons } from '../../projections/answers/not-called.ts';
import { callCosts, cause } from './runs.ts';

const count = z.number().int().nonnegative();
const cell = z.union([z.string(), z.number(), z.null()]);

export const queried = z.object({
  columns: z.array(z.string()).describe('in order; a name that comes twice has :2 behind it the second time'),
  rows: z.array(z.record(z.string(), cell)),
  cutBy: z.enum(['queryRows', 'queryBytes']).nullable().describe('there were more rows: the limit that left them out'),
  collected: count.describe('sessions whose payloads were collected: nothing of their events is in the tables'),
});

const whose = { run: z.string(), session: z.string() };
const share = z.number().describe('of the total, from 0 to 1');

export const whyDear = z.object({
  kind: z.literal('cost'),
  ...whose,
  total: z.object(callCosts),
  measured: z.enum(['usd', 'tokens']).describe('what shares are of: money where some is known'),
  agents: z.array(z.object({ agent: z.string(), runs: count, ...callCosts, share })).describe('dearest first'),
  turns: z
    .array(
      z.object({
        ...{ run: z.string(), agent: z.string(), turn: count, model: z.string(), inputTokens: count, outputTokens: count },
        ...{ nanoUsd: z.number().nullable(), attempts: count, event: z.string(), share },
      }),
    )
    .describe('the dearest ten, dearest first'),
  retries: z.object({ failedAttempts: count, answersAfterFailure: count, ...callCosts }),
  growth: z
    .array(
      z.object({
        ...{ run: z.string(), agent: z.string(), turns: count, firstInputTokens: count, lastInputTokens: count },
        sentAgainTokens: count.describe('that the request before had already'),
        inputTokens: count,
        sentAgainShare: z.number().describe('of its input, from 0 to 1'),
      }),
    )
    .describe('runs of more than one turn, those that sent the most again first'),
});

export const whyEnded = z.object({
  kind: z.literal('end'),
  ...whose,
  agent: z.string(),
  state: z.string(),
  reason: z.enum(endingReasons),
  text: z.string(),
  event: z.string().nullable().describe('that decided it'),
  because: z.array(z.object({ event: z.string(), text: z.string() })),
  next: z.string().nullable().describe('the command that takes it further'),
});

export const whyNotCalled = z.object({
  kind: z.literal('not_called'),
  name: z.string(),
  ...whose,
  called: z.boolean().describe('it was called after all, in one of the runs'),
  runs: z.array(
    z.object({
      ...{ run: z.string(), agent: z.string(), reason: z.enum(absenceReasons), text: z.string() },
      event: z.string().nullable().describe('that shows it'),
    }),
  ),
});

/** From a result back to the prompt; with `--cost`, `--end` and `--not-called` another question. */
export const whys = z.union([z.array(cause), whyDear, whyEnded, whyNotCalled]);

export const blameOfFile = z.object({
  path: z.string().describe('from the workspace'),
  asRecorded: z.boolean().describe('the file is as the last recorded change left it'),
  lines: z.array(
    z.object({
      line: count,
      event: z.string().nullable().describe('the change that wrote it; null when nobody recorded it'),
      certain: z.boolean().describe('every change since then is known'),
    }),
  ),
  changes: z
    .array(
      z.object({
        ...{ event: z.string(), session: z.string(), run: z.string(), agent: z.string(), turn: count.nullable(), at: z.string() },
        source: z.enum(['tool', 'command', 'outside']),
        tool: z.string().nullable(),
        prompt: z.string().describe('what the person had asked for'),
        ...{ added: count, removed: count },
      }),
    )
    .describe('those that wrote one of the lines, oldest first'),
});
