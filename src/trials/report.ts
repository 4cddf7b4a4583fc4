/** What came of trials, as programs read it and as it is kept for the next comparison. */
import { z } from 'zod';

const count = z.number().int().nonnegative();
const share = z.number().min(0).max(1);
const money = { usd: z.number().nonnegative(), unknownCalls: count.describe('calls without a known price: not in `usd`') };

const checkOutcome = z.object({
  check: z.string(),
  passed: z.boolean(),
  why: z.string().nullable().describe('what was there instead; null when it passed'),
});

export type CheckOutcome = z.output<typeof checkOutcome>;

const score = z.object({
  judge: z.string(),
  score: share.nullable().describe('null when it gave none that can be read'),
  reason: z.string(),
});

export type Score = z.output<typeof score>;

const trial = z.object({
  passed: z.boolean(),
  run: z.string().nullable().describe('null when it could not be started'),
  status: z.string(),
  verification: z.string().nullable(),
  checks: z.array(checkOutcome),
  scores: z.array(score).describe('advice of judges: never decides'),
  durationMs: count,
  turns: count,
  tokens: count,
  ...money,
  workspace: z.string().nullable().describe('where its files were kept'),
});

export type Trial = z.output<typeof trial>;

const tested = z.object({
  name: z.string(),
  agent: z.string(),
  frozen: z.boolean().optional().describe('played again over its recorded answers: nobody was asked'),
  updated: z.boolean().optional().describe('what has changed was taken for what it is to be'),
  passed: z.boolean().describe('every trial passed'),
  trials: z.array(trial),
  passRate: share.describe('how likely one trial passes'),
  passAll: share.describe('how likely all of as many trials pass: pass^k, with k trials'),
  change: z.enum(['new', 'same', 'fixed', 'broken']).describe('against the last report that has it'),
});

export type Tested = z.output<typeof tested>;

const brokenFiles = z.array(z.object({ file: z.string(), why: z.string() }));

export const testReport = z.object({
  passed: z.boolean(),
  tests: z.array(tested),
  notRun: z.array(z.string()).describe('no budget was left for them'),
  broken: brokenFiles.describe('files that are no tests: the others were tried'),
  total: z.object({ trials: count, durationMs: count, ...money }),
  before: z
    .object({ at: z.string(), usd: z.number(), durationMs: count, passed: count, failed: count })
    .nullable()
    .describe('the last report'),
});

export type TestReport = z.output<typeof testReport>;

export const keptReport = z.object({
  version: z.literal(1),
  at: z.string(),
  report: testReport.extend({ broken: brokenFiles.default([]) }),
});
export type KeptReport = z.output<typeof keptReport>;

const cell = z.object({
  case: z.string(),
  agent: z.string(),
  model: z.string().nullable().describe('null for what the agents name themselves'),
  trials: z.array(trial),
  passRate: share,
  passAll: share,
  score: share.nullable().describe('the mean of all scores of judges'),
  usd: z.number().nonnegative().describe('the mean of a trial'),
  unknownCalls: count,
  durationMs: count.describe('the mean of a trial'),
});

export type EvalCell = z.output<typeof cell>;

const contender = z.object({
  agent: z.string(),
  model: z.string().nullable(),
  passRate: share.describe('the mean over the cases'),
  passAll: share.describe('the mean over the cases'),
  score: share.nullable(),
  usd: z.number().nonnegative().describe('the mean of a trial'),
  unknownCalls: count,
  durationMs: count,
});

export type Contender = z.output<typeof contender>;

export const evalReport = z.object({
  name: z.string(),
  at: z.string(),
  contenders: z.array(contender).describe('the best first'),
  cells: z.array(cell),
  notRun: count.describe('trials for which no budget was left'),
  total: z.object({ trials: count, durationMs: count, ...money }),
  page: z.string().nullable().describe('the report as a page'),
});

export type EvalReport = z.output<typeof evalReport>;
