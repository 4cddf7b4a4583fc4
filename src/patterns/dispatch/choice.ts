/** Whom the router chose: the form in which it answers, and what is left of an answer when it is held against who there is. */
import { z } from 'zod';
import { type Json, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { startOf } from '../../base/whole-words.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { Ending } from '../../loop/port.ts';

/** A choice of agents that there are. */
export type Choice = Pick<
  Payloads['dispatch.chose'],
  'agentId' | 'confidence' | 'reasoning' | 'additionalAgents' | 'agentInstructions' | 'leftOut'
>;

/** Some models write numbers as text, and nothing as null. */
const confidence = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\s*\d*\.?\d+\s*$/)
      .transform(Number),
  ])
  .pipe(z.number().min(0).max(1));

const instruction = z.object({ agentId: z.string(), instruction: z.string() });

const answer = z.object({
  agentId: z.string().min(1),
  confidence,
  reasoning: z.string().nullish(),
  additionalAgents: z.array(z.string()).nullish(),
  agentInstructions: z.array(instruction).nullish(),
});

/** What goes to the model with the request. Every field is required: some providers take no other schemas. */
export function choiceSchema(ids: readonly string[]): Json {
  const id = { type: 'string', enum: [...ids] };
  const text = (description: string): Json => ({ type: 'string', description });
  const told = {
    type: 'object',
    properties: { agentId: id, instruction: text('Its part of the request, complete in itself') },
    required: ['agentId', 'instruction'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: {
      agentId: { ...id, description: 'The agent that fits best' },
      confidence: { type: 'number', description: 'How sure you are, from 0 to 1' },
      reasoning: text('Why, in one sentence; or the question that would settle it'),
      additionalAgents: { type: 'array', items: id, description: 'Others that are needed for parts of the request' },
      agentInstructions: { type: 'array', items: told, description: 'One for each agent that is named' },
    },
    required: ['agentId', 'confidence', 'reasoning', 'additionalAgents', 'agentInstructions'],
    additionalProperties: false,
  };
}

/** What an answer amounts to. The failure is written for the model, which may try again. */
export function choiceEnding(ids: readonly string[]): (text: string) => Result<Ending, string> {
  return (text) => {
    const choice = choiceIn(text, ids);
    if (!choice.ok) return choice;
    // As it was said: what was left out is found when it is read again.
    const report = { format: 'json' as const, body: jsonIn(text) };
    return ok({ success: true, report, claims: [] });
  };
}

/** Some models put it into a block of code. */
const jsonIn = (text: string): string => /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(text.trim())?.[1] ?? text;

/** What differs in case, or by a space, is told in so many words: a model does not see it otherwise. */
function exactly(said: string, ids: readonly string[]): string {
  const plain = (id: string): string => id.trim().toLowerCase();
  const meant = ids.find((id) => plain(id) === plain(said));
  const all = `The exact ids are: ${ids.join(', ')}.`;
  return meant === undefined ? all : `Did you mean ${meant}? Upper and lower case count. ${all}`;
}

const problem = ({ path, message }: z.core.$ZodIssue): string =>
  `${path.length === 0 ? 'the answer' : path.join('.')}: ${message}`;

/** Only exact ids count. Others that nobody has are left out; the first must be there. */
export function choiceIn(text: string, ids: readonly string[]): Result<Choice, string> {
  const parsed = parseJson(jsonIn(text));
  if (!parsed.ok) return fail('Not taken: it is not one JSON object and nothing else.');
  const read = answer.safeParse(parsed.value);
  if (!read.success) return fail(`Not taken: ${read.error.issues.map(problem).join('; ')}`);
  const { agentId, confidence: sure, reasoning, additionalAgents, agentInstructions } = read.data;
  if (!ids.includes(agentId)) {
    const said = JSON.stringify(startOf(agentId, limits.catalogueExampleCharacters));
    return fail(`Not taken: there is no agent with the id ${said}. ${exactly(agentId, ids)}`);
  }
  const told = new Map<string, string>();
  for (const { agentId: to, instruction: part } of agentInstructions ?? [])
    if (part.trim() !== '' && !told.has(to)) told.set(to, part.trim());
  const others = [...new Set(additionalAgents ?? [])].filter((id) => id !== agentId);
  const additional = others.filter((id) => ids.includes(id));
  const leftOut = others.filter((id) => !ids.includes(id));
  // Where nobody has an instruction the whole request is everybody's; where some have one, who has none was named for nothing.
  const untold = additional.filter((id) => !told.has(id));
  if (untold.length > 0 && [agentId, ...additional].some((id) => told.has(id)))
    return fail(
      `Not taken: there is no instruction for ${untold.join(', ')}. Write one for every agent that you name, or do not name it.`,
    );
  const instructions = [agentId, ...additional].flatMap((id) => {
    const part = told.get(id);
    return part === undefined ? [] : [{ agentId: id, instruction: part }];
  });
  return ok({
    agentId,
    confidence: sure,
    ...present({ reasoning: reasoning?.trim() || undefined }),
    ...(additional.length === 0 ? {} : { additionalAgents: additional }),
    ...(instructions.length === 0 ? {} : { agentInstructions: instructions }),
    ...(leftOut.length === 0 ? {} : { leftOut }),
  });
}
