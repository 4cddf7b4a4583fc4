/** Choices and answers of agents as they stand in the metadata of a task: the JSON of `AgentChoiceResult` and `AgentResponse`. */
import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { AgentChoice, DispatchedAnswer } from '../patterns/chosen-agents.ts';
import { anyCase, fromString } from './any-case.ts';

const agentId = z.string().min(1);

const choiceSchema = anyCase({
  agentId,
  confidence: z.preprocess(fromString, z.number().min(0).max(1)),
  reasoning: z.string().optional(),
  additionalAgents: z.array(agentId).optional(),
  agentInstructions: z.array(anyCase({ agentId, instruction: z.string() })).optional(),
}).refine(({ agentId: primary, additionalAgents = [] }) => !additionalAgents.includes(primary), 'the first is among the others');

const answerSchema = anyCase({
  agentId,
  content: z.string().default(''),
  success: z.boolean(),
  errorMessage: z.string().optional(),
  executionTimeMs: z.preprocess(fromString, z.number().int().nonnegative()).default(0),
}).refine(({ success, errorMessage }) => success || errorMessage !== undefined, 'what failed has an errorMessage');

/** In the order in which they are written, and nothing else; `undefined` when it is none. */
export function readAgentChoice(value: Json | undefined): AgentChoice | undefined {
  const read = choiceSchema.safeParse(value);
  if (!read.success) return undefined;
  const { agentId: id, confidence, reasoning, additionalAgents, agentInstructions } = read.data;
  return { agentId: id, confidence, ...present({ reasoning, additionalAgents, agentInstructions }) };
}

export function readDispatchedAnswer(value: Json | undefined): DispatchedAnswer | undefined {
  const read = answerSchema.safeParse(value);
  if (!read.success) return undefined;
  const { agentId: id, content, success, errorMessage, executionTimeMs } = read.data;
  return { agentId: id, content, success, ...present({ errorMessage }), executionTimeMs };
}
