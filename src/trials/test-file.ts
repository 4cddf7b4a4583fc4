/**
 * A kept test: what an agent is asked, on which files, and what must be true afterwards. One file of `tests/` in a project; its
 * name is the file's.
 */
import { z } from 'zod';
import { timeLimit } from '../agents/definition/duration-schema.ts';
import { limits } from '../base/limits.ts';
import { schemaFrom } from '../base/schema/json-schema.ts';
import { runStatus } from '../events/run-status.ts';

const text = z.string().min(1);
const most = `at most ${limits.testEntries} (testEntries)`;
const texts = z.array(text).min(1).max(limits.testEntries, most);

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source, 'u');
  } catch {
    context.addIssue({ code: 'custom', message: 'is not a regular expression' });
    return z.NEVER;
  }
});

const looks = z.strictObject({ contains: texts.optional(), lacks: texts.optional(), matches: pattern.optional() });

const fileCheck = z.union([
  z.strictObject({ absent: z.literal(true) }),
  looks.extend({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'is 64 hexadecimal digits')
      .optional(),
  }),
]);

/** One that cannot be checked would pass whatever the answer is. */
const checkable = z.record(z.string(), z.json()).refine(
  (schema) => {
    try {
      return schemaFrom(schema) !== undefined;
    } catch {
      return false;
    }
  },
  { error: 'is no JSON Schema that can be checked here' },
);

export const checksSchema = z.strictObject({
  status: z.enum([...runStatus.options, 'waiting']).default('completed'),
  verification: z.enum(['verified', 'unverified', 'unchecked']).optional(),
  answer: looks.extend({ schema: checkable.optional() }).optional(),
  files: z.record(text, fileCheck).optional(),
  /** Run by us in a clean shell when the run is over. */
  commands: texts.optional(),
  /** Tools that some run of the tree called; and that none did. */
  called: texts.optional(),
  notCalled: texts.optional(),
  /** Agents that worked, beside the first. */
  agents: texts.optional(),
  maxUsd: z.number().nonnegative().optional(),
  maxTokens: z.number().int().positive().optional(),
  maxTurns: z.number().int().positive().optional(),
  maxTime: timeLimit.optional(),
});

/** What must be true of every trial. */
export type Checks = z.output<typeof checksSchema>;

export const judgesSchema = z
  .array(z.strictObject({ agent: text, question: text.optional() }))
  .max(limits.testJudges, `at most ${limits.testJudges} (testJudges)`);

export type Judge = z.output<typeof judgesSchema>[number];

export const trialsSchema = z.number().int().positive().max(limits.testTrials, `at most ${limits.testTrials} (testTrials)`);

const budgetSchema = z.strictObject({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().int().positive().optional(),
  calls: z.number().int().positive().optional(),
  wall: timeLimit.optional(),
});

/** For one tool: given, refused, or refused with these words. */
const decision = z.union([z.boolean(), text]);

/** What a test and a case of an evaluation have in common. */
export const caseShape = {
  prompt: text,
  /** Files of pictures beside the file, shown to the agent behind the prompt. */
  images: texts.optional(),
  /** A folder beside the file: what the agent finds in its workspace. Without it, nothing. */
  files: text.optional(),
  /** What a person says to its questions, in order. A question more ends the trial. */
  answers: z.array(text).max(limits.testEntries, most).default([]),
  /** Whether permissions are given, or for which tools; any other request ends the trial. */
  approve: z.union([z.boolean(), z.record(text, decision)]).default(false),
  commandTimeout: timeLimit.default(limits.testCommandMs),
  budget: budgetSchema.optional(),
};

const live = z.strictObject({
  ...caseShape,
  agent: text,
  model: text.optional(),
  vars: z.record(text, z.string()).optional(),
  trials: trialsSchema.default(1),
  checks: checksSchema.prefault({}),
  judges: judgesSchema.default([]),
});

/** Of the form that is described here. */
export const TEST_VERSION = 1;

const version = z.literal(TEST_VERSION).optional();

export const testSchema = live.extend({ version });

export type TestDefinition = z.output<typeof testSchema>;

/** A test that plays a run again over its recorded answers: what is checked is that it comes to the same. */
export const frozenSchema = z.strictObject({ version, agent: text, prompt: z.string().optional(), frozen: text });

/** One case: who is asked what, and what must be true. */
export type TrialCase = Pick<
  TestDefinition,
  'prompt' | 'images' | 'files' | 'answers' | 'approve' | 'commandTimeout' | 'budget' | 'agent' | 'checks' | 'judges'
>;

/** A test as it was found. */
export interface LiveTest {
  readonly name: string;
  /** Where the file is; what it names is beside it. */
  readonly folder: string;
  readonly test: TestDefinition;
}

export interface FrozenTest extends Pick<LiveTest, 'name' | 'folder'> {
  readonly agent: string;
  /** The file with the record. */
  readonly frozen: string;
}

export type KeptTest = LiveTest | FrozenTest;
