/**
 * What an agent file may say. One strict schema: an unknown key is an error, so that a typo never silently changes what runs.
 * The schema holds what a file *says*; defaults live in base/limits.ts and are applied where they are used.
 */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { failureAction } from '../../events/tasks/task-events.ts';
import { duration, timeLimit } from './duration-schema.ts';
import { type ExecutorUse, executorSchema } from './executor.ts';
import { a2aSchema, type RemoteAgent } from './remote.ts';
import { verifySchema } from './verify.ts';

/** Names are compared in one Unicode form, so that the same word typed on two machines is the same agent. */
const name = z.string().min(1).max(200).normalize('NFC');
const names = z.array(name).min(1).max(100);
const count = z.number().int().positive();

/** A JSON Schema as it stands in the file. Whether it is a valid one is checked by the loader. */
const jsonSchema = z.record(z.string(), z.unknown());
const format = z.enum(['text', 'markdown', 'json']);

const worker = z.union([
  name,
  z.strictObject({ agent: name, model: z.string().optional(), charter: z.string().max(4_000).optional(), name: name.optional() }),
]);

/** A text with places that are filled in when it is used. */
const template = z.string().min(1).max(limits.dispatchTemplateCharacters);

/** What a group knows beforehand: a file of the project, or the text itself. */
const context = z.union([z.string(), z.strictObject({ text: z.string() })]);

const permission = z.enum(['allow', 'ask', 'deny']);
/** One word for every call of a tool, or rules by what a call is about: a command, a path, a host. */
const rule = z.union([permission, z.record(z.string().min(1).max(limits.ruleCharacters), permission)]);
/** By the name of a tool. */
export const permissionsSchema = z.record(name, rule);

/** An agent without hands, which hands tasks over; within which limits, and what happens when they fail. */
const architect = z.strictObject({
  /** An agent, or an executor by its name. */
  executor: name,
  /** Who gets a task that goes on failing, one after the other. */
  fallbackExecutors: z.array(name).max(limits.fallbackExecutors).optional(),
  limits: z
    .strictObject({
      /** Rounds of questions before a task is handed over. */
      maxClarifyRounds: z.number().int().nonnegative().max(limits.clarifyRoundsMax).optional(),
      maxCliCalls: count.optional(),
      maxDuration: timeLimit.optional(),
      /** In MiB. */
      maxMemory: count.optional(),
      /** How often the same error may come before the policy says what happens. */
      maxSameErrorRetries: count.optional(),
      /** Events after which the conversation is condensed. */
      summarizeThreshold: count.optional(),
      maxUsd: z.number().positive().optional(),
      /** How long an executor may work without a new change of a file and without a new test result. */
      stallAfter: timeLimit.optional(),
    })
    .optional(),
  failurePolicy: z.strictObject({ onRepeatedError: failureAction.optional(), onTimeout: failureAction.optional() }).optional(),
  /** Where tasks are worked on; a worktree of its own for each unless said, where the folder is a repository. */
  workspace: z.enum(['worktree', 'in-place']).optional(),
  /** How many tasks may be worked on at once, if they are about different files. */
  parallel: count.max(limits.parallelTasks).optional(),
});

export const definitionSchema = z.strictObject({
  name: name.optional(),
  description: z.string().max(4_000).optional(),
  model: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(10)]).optional(),
  models: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(10)]).optional(),

  tools: z.array(name).max(200).optional(),
  mcp: z
    .record(
      name,
      z.union([
        z.strictObject({
          command: z.string().min(1),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.string()).optional(),
          cwd: z.string().optional(),
        }),
        z.strictObject({ url: z.url(), headers: z.record(z.string(), z.string()).optional() }),
      ]),
    )
    .optional(),
  permissions: permissionsSchema.optional(),

  agents: names.optional(),
  chat: z.boolean().optional(),
  advisors: z.union([name.transform((one) => [one]), names]).optional(),
  router: z.strictObject({ destinations: names }).optional(),
  handoff: z
    .union([
      name.transform((to) => ({ to, include: 'report' as const })),
      z.strictObject({ to: name, include: z.enum(['report', 'request']).default('report') }),
    ])
    .optional(),
  team: z
    .strictObject({
      members: names,
      supervisor: name.optional(),
      memberMaxTurns: count.optional(),
      supervisorMaxTurns: count.optional(),
    })
    .optional(),
  group: z
    .strictObject({
      mode: z.enum(['broadcast', 'sequential', 'orchestrator', 'reflect']),
      /** Without any, a `reflect` loop is the agent's own. */
      workers: z.array(worker).min(1).max(100).optional(),
      evaluator: name.optional(),
      maxIterations: count.optional(),
      workerTimeout: timeLimit.optional(),
      collectTimeout: timeLimit.optional(),
      sharedContext: context.optional(),
      routingContext: context.optional(),
    })
    .optional(),
  dispatch: z
    .strictObject({
      agents: z.array(name).max(100),
      // who chooses
      model: z.string().min(1).optional(),
      confidenceThreshold: z.number().min(0).max(1).optional(),
      maxAttempts: count.optional(),
      temperature: z.number().min(0).max(2).optional(),
      maxOutputTokens: count.optional(),
      systemPrompt: template.optional(),
      userPromptTemplate: template.optional(),
      catalogueHeader: template.optional(),
      includeCapabilities: z.boolean().optional(),
      includeExamples: z.boolean().optional(),
      cache: z.boolean().optional(),
      /** The choice is the answer, and nobody is asked. */
      dryRun: z.boolean().optional(),
      // when nobody is sure, or nobody fits
      /** The word `ask`, or an agent. */
      clarification: name.optional(),
      clarificationPromptTemplate: template.optional(),
      fallback: name.optional(),
      fallbackReasonTemplate: template.optional(),
      // those who were chosen
      timeout: timeLimit.optional(),
      retries: z.number().int().nonnegative().max(limits.dispatchRetriesMax).optional(),
      retryDelay: duration.optional(),
      needsInput: z.boolean().optional(),
      // the answer
      priority: names.optional(),
      join: z.boolean().optional(),
      partialFailureTemplate: template.optional(),
      fallbackMessage: template.optional(),
    })
    .optional(),
  architect: architect.optional(),

  input: z.strictObject({ format: format.optional(), schema: jsonSchema.optional() }).optional(),
  output: z.strictObject({ format: format.optional(), schema: jsonSchema.optional() }).optional(),

  maxTurns: count.optional(),
  maxToolCallsPerTurn: count.optional(),
  maxRetries: z.number().int().nonnegative().optional(),
  outagePatience: duration.optional(),
  maxOutputTokens: count.optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  reasoning: z.enum(['none', 'minimal', 'low', 'medium', 'high']).optional(),
  llmTimeout: timeLimit.optional(),
  toolTimeout: timeLimit.optional(),
  toolResponseMaxBytes: count.optional(),
  contextWindow: count.optional(),
  budget: z
    .strictObject({
      usd: z.number().nonnegative().optional(),
      tokens: z.number().int().nonnegative().optional(),
      calls: z.number().int().nonnegative().optional(),
      depth: z.number().int().nonnegative().optional(),
      wall: duration.optional(),
      /** Run even though the price of the model is not known: the `usd` limit then counts only what is. */
      allowUnknownPrices: z.boolean().optional(),
    })
    .optional(),
  verify: verifySchema.optional(),
  isolation: z.enum(['inline', 'process']).optional(),
  tags: z.array(z.string().max(100)).max(50).optional(),
  /** What one would ask this agent, in the words of whoever asks: search finds it by them. */
  examples: z.array(z.string().max(1_000)).max(50).optional(),
  /** Peers may find it and give it tasks, by A2A; or it is a peer's itself, and this says where. */
  a2a: a2aSchema.optional(),
  /** Its work is done by an executor: its name, or more. */
  executor: executorSchema.optional(),
});

/** Keys that say how the agent uses others. What stands behind each is in src/patterns. */
export const patternKeys = ['advisors', 'team', 'group', 'dispatch', 'architect', 'router', 'handoff'] as const;
export type PatternKey = (typeof patternKeys)[number];

export type Frontmatter = z.infer<typeof definitionSchema>;
export type GivenContext = z.infer<typeof context>;

/** An agent: what its file says, its prompt, and where it came from. */
export interface AgentDefinition extends Omit<Frontmatter, 'name' | 'model' | 'models' | 'a2a' | 'executor'> {
  readonly name: string;
  /** Peers may find it. */
  readonly a2a?: boolean | undefined;
  /** Where it is, when it lives elsewhere. */
  readonly remote?: RemoteAgent | undefined;
  /** Who works for it, in the place of a model and of tools. */
  readonly executor?: ExecutorUse | undefined;
  /** Models to try in order; empty when the file names none and the project's default is used. */
  readonly models: readonly string[];
  readonly prompt: string;
  /** Path of the file, relative to the project where it can be. */
  readonly source: string;
}
