/**
 * The Agent Trajectory Interchange Format as its specification has it (RFC 0001 of Harbor, version 1.7), written down by hand and
 * with nothing of what writes it: every object knows its fields and no others, as in the reference implementation.
 */
import { z } from 'zod';

const extra = z.record(z.string(), z.unknown()).optional();
const count = z.number().int().nonnegative();
const name = z.string().min(1);

const image = z.strictObject({
  media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
  path: name,
});
const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), source: image }),
]);
const content = z.union([z.string(), z.array(contentPart)]);

const toolCall = z.strictObject({
  tool_call_id: name,
  function_name: name,
  arguments: z.record(z.string(), z.unknown()),
  extra,
});

const subagentRef = z
  .strictObject({
    trajectory_id: name.optional(),
    trajectory_path: name.optional(),
    session_id: z.string().optional(),
    extra,
  })
  .refine((ref) => ref.trajectory_id !== undefined || ref.trajectory_path !== undefined, 'a reference that leads nowhere');

const observation = z.strictObject({
  results: z.array(
    z.strictObject({
      source_call_id: name.optional(),
      content: content.optional(),
      subagent_trajectory_ref: z.array(subagentRef).optional(),
      extra,
    }),
  ),
});

const metrics = z
  .strictObject({
    prompt_tokens: count.optional(),
    completion_tokens: count.optional(),
    cached_tokens: count.optional(),
    cost_usd: z.number().nonnegative().optional(),
    prompt_token_ids: z.array(z.number().int()).optional(),
    completion_token_ids: z.array(z.number().int()).optional(),
    logprobs: z.array(z.number()).optional(),
    extra,
  })
  .refine(({ prompt_tokens: all = 0, cached_tokens: cached = 0 }) => cached <= all, 'more came from the cache than there was');

/** What only a step of an agent may have. */
const OF_AGENTS = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const;

const step = z
  .strictObject({
    step_id: z.number().int().min(1),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    source: z.enum(['system', 'user', 'agent']),
    model_name: name.optional(),
    reasoning_effort: z.union([z.string(), z.number()]).optional(),
    message: content,
    reasoning_content: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    observation: observation.optional(),
    metrics: metrics.optional(),
    extra,
    llm_call_count: count.optional(),
    is_copied_context: z.boolean().optional(),
  })
  .superRefine((one, context) => {
    const refuse = (message: string): void =>
      void context.addIssue({ code: 'custom', message: `step ${one.step_id}: ${message}` });
    if (one.source !== 'agent')
      for (const field of OF_AGENTS) if (one[field] !== undefined) refuse(`${field} of a ${one.source}`);
    if (one.source === 'agent' && one.llm_call_count === 0 && (one.metrics ?? one.reasoning_content) !== undefined)
      refuse('no model was asked, and yet there is what it took');
    const calls = (one.tool_calls ?? []).map(({ tool_call_id: id }) => id);
    if (new Set(calls).size !== calls.length) refuse('two calls of one id');
    for (const { source_call_id: id } of one.observation?.results ?? [])
      if (id !== undefined && !calls.includes(id)) refuse(`a result of ${id}, which it did not call`);
  });

const finalMetrics = z.strictObject({
  total_prompt_tokens: count.optional(),
  total_completion_tokens: count.optional(),
  total_cached_tokens: count.optional(),
  total_cost_usd: z.number().nonnegative().optional(),
  total_steps: count.optional(),
  extra,
});

const toolDefinition = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({ name, description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
});

const trajectoryFields = {
  schema_version: z.literal('ATIF-v1.7'),
  session_id: name.optional(),
  trajectory_id: name.optional(),
  agent: z.strictObject({
    name,
    version: name,
    model_name: name.optional(),
    tool_definitions: z.array(toolDefinition).optional(),
    extra,
  }),
  steps: z.array(step).min(1),
  notes: z.string().optional(),
  final_metrics: finalMetrics.optional(),
  continued_trajectory_ref: z.string().optional(),
  extra,
};

export type Trajectory = z.infer<z.ZodObject<typeof trajectoryFields>> & {
  readonly subagent_trajectories?: readonly Trajectory[] | undefined;
};

export const trajectorySchema: z.ZodType<Trajectory> = z
  .strictObject({
    ...trajectoryFields,
    get subagent_trajectories() {
      return z.array(trajectorySchema).optional();
    },
  })
  .superRefine(({ steps, subagent_trajectories: below = [] }, context) => {
    const refuse = (message: string): void => void context.addIssue({ code: 'custom', message });
    for (const [index, { step_id: id }] of steps.entries())
      if (id !== index + 1) refuse(`step ${index + 1} says that it is ${id}`);
    const ids = below.map(({ trajectory_id: id }) => id);
    if (ids.includes(undefined)) refuse('one below has no id');
    if (new Set(ids).size !== ids.length) refuse('two below have the same id');
    for (const one of steps)
      for (const { subagent_trajectory_ref: refs = [] } of one.observation?.results ?? [])
        for (const { trajectory_id: id, trajectory_path: path } of refs)
          if (path === undefined && !ids.includes(id)) refuse(`step ${one.step_id} refers to ${id}, which is not there`);
  });

/** Throws what is wrong with it. */
export const trajectoryIn = (text: string): Trajectory => trajectorySchema.parse(JSON.parse(text));

/** It and all below it. */
export const allIn = (trajectory: Trajectory): readonly Trajectory[] => [
  trajectory,
  ...(trajectory.subagent_trajectories ?? []).flatMap(allIn),
];

/** What its own steps say that they cost, in billionths of a dollar: sums of dollars are not exact. */
export const costOfSteps = (all: readonly Trajectory[]): number =>
  all.flatMap(({ steps }) => steps).reduce((sum, { metrics: of }) => sum + Math.round((of?.cost_usd ?? 0) * 1e9), 0);
