/** A table of cases, and who is to do them: agents, models, or both. */
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import { caseShape, checksSchema, judgesSchema, trialsSchema } from './test-file.ts';

const text = z.string().min(1);

const evalCase = z.strictObject({ ...caseShape, name: text.optional(), checks: checksSchema.prefault({}) });

export const evalSchema = z
  .strictObject({
    agents: z.array(text).min(1).max(limits.testEntries),
    /** Whatever the agents name; without any, what they name themselves. */
    models: z.array(text).min(1).max(limits.testEntries).optional(),
    trials: trialsSchema.default(1),
    judges: judgesSchema.default([]),
    cases: z.array(evalCase).min(1),
  })
  .refine(
    ({ agents, models = [''], trials, cases }) => agents.length * models.length * trials * cases.length <= limits.evalTrials,
    { error: `comes to more than ${limits.evalTrials} trials (evalTrials)` },
  );

export type EvalTable = z.output<typeof evalSchema>;
