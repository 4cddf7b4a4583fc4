/** What the router and those who were chosen are told. Texts of others stand between fences. */
import { filled } from '../../agents/definition/places.ts';
import { fenced, fenceNote } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import type { UserMessage } from '../../events/messages.ts';
import type { Skills } from '../agent-run.ts';
import type { DispatchSettings } from './settings.ts';

/** A request, with what was asked about it and answered since. */
export interface Asked {
  readonly request: string;
  readonly exchanges: readonly { readonly question: string; readonly answer: string }[];
  readonly images: readonly Extract<UserMessage['content'][number], { readonly type: 'image' }>[];
}

export const RULES = [
  'You decide who answers a request. You do not answer it yourself.',
  'You get a catalogue of agents and the request. Choose the agent that fits best, by its id exactly as it stands in the catalogue.',
  [
    '- Most requests need one agent. Name additional agents only for parts of the request that the first one cannot do.',
    '- Write an instruction for every agent that you name: its part and nothing else, complete in itself. Names, places, numbers and ' +
      'times stay exactly as the user said them.',
    '- What is to happen later goes, as a whole, to the agent that keeps time, if there is one.',
    '- Confidence is how sure you are of the choice: 0.9 or more when the request names what the agent is for, about 0.7 when it ' +
      'fits without being named, about 0.4 when several fit alike, about 0.1 when none does.',
    '- If the request can be understood in several ways, lower the confidence, and let the reasoning be one short question to the ' +
      'user that would settle it. It ends with a question mark and names no agent.',
  ].join('\n'),
  'Answer with one JSON object and nothing else: {"agentId": …, "confidence": …, "reasoning": …, "additionalAgents": […], ' +
    '"agentInstructions": [{"agentId": …, "instruction": …}]}.',
].join('\n\n');

/** The router's own rules, and then what the agent's file says. */
export const routerSystem = ({ systemPrompt = RULES }: Pick<DispatchSettings, 'systemPrompt'>, own: string): string =>
  own.trim() === '' ? systemPrompt : `${systemPrompt}\n\n${own}`;

const CATALOGUE_HEADER = '## Agents\n\nThe id stands first.';
const USER_PROMPT = '{catalogue}\n\n## Request\n\n{request}';

/** One line for each agent, and one more for each thing that is known of it. */
export function catalogueText(
  ids: readonly string[],
  skills: readonly Skills[],
  { includeCapabilities, includeExamples }: Pick<DispatchSettings, 'includeCapabilities' | 'includeExamples'>,
): string {
  const lines = ids.flatMap((id, index) => {
    const { description, tags = [], examples = [] } = skills[index] ?? {};
    const about = description === undefined ? '' : `: ${oneLine(description, limits.catalogueCharacters)}`;
    const shown = examples.slice(0, limits.catalogueExamples);
    return [
      `- ${id}${about}`,
      ...(includeCapabilities && tags.length > 0
        ? [`  capabilities: ${oneLine(tags.join(', '), limits.catalogueCharacters)}`]
        : []),
      ...(includeExamples ? shown.map((one) => `  example: ${oneLine(one, limits.catalogueExampleCharacters)}`) : []),
    ];
  });
  return lines.join('\n');
}

const oneLine = (text: string, most: number): string => startOf(text.trim().replaceAll(/\s+/g, ' '), most);

export function routingPrompt(
  { userPromptTemplate = USER_PROMPT, catalogueHeader = CATALOGUE_HEADER }: DispatchSettings,
  catalogue: string,
  asked: Asked,
  nonce: string,
): string {
  const listed = `${catalogueHeader}\n\n${fenced('agents', nonce, catalogue)}`;
  const request = requestBlock(asked, nonce);
  return `${fenceNote(nonce)}\n\n${filled(userPromptTemplate, { request, catalogue: listed, '0': request, '1': listed })}`;
}

/** The request and what was settled about it since: whoever goes on from an answer knows what it is an answer to. */
function requestBlock({ request, exchanges }: Asked, nonce: string): string {
  return [
    fenced('request', nonce, request),
    ...exchanges.flatMap(({ question, answer }) => [
      'About this the user was asked:',
      fenced('question', nonce, question),
      'The user answered:',
      fenced('answer', nonce, answer),
    ]),
  ].join('\n\n');
}

export interface Part {
  readonly asked: Asked;
  readonly instruction?: string | undefined;
  /** Others work on the same request. */
  readonly others?: boolean | undefined;
  /** What the user answered to the agent's own question. */
  readonly answer?: string | undefined;
}

/** What an agent gets that was chosen: the whole request, and its part of it. */
export function partText({ asked, instruction, others, answer }: Part, nonce: string): string {
  if (answer !== undefined) return `The user answers your question:\n\n${fenced('answer', nonce, answer)}`;
  const original = ['## ORIGINAL USER REQUEST', requestBlock(asked, nonce)];
  if (instruction === undefined)
    return [
      ...original,
      ...(others === true ? ['## YOUR PART', 'Do what you are for and nothing else; others do the rest.'] : []),
    ].join('\n\n');
  return [
    ...original,
    '## YOUR PART',
    'Do this part and nothing else; others do the rest.',
    fenced('instruction', nonce, instruction),
  ].join('\n\n');
}

/** For somebody whose last attempt came to no end: it knows from its conversation how far it was. */
export const againText = (why: string, nonce: string): string =>
  [
    'Your last attempt came to no end:',
    fenced('failure', nonce, why),
    'Find out what is done already, do only what is missing, and answer.',
  ].join('\n\n');

const CLARIFY =
  'It is not clear what the user wants. Write one or two sentences that ask for what is missing, in the words of the request. Name ' +
  'no agents, and end with a question mark.\n\n{request}\n\nThis is why it is not clear:\n\n{reasoning}';

/** What the agent gets that asks the user back. */
export function clarificationPrompt(
  { clarificationPromptTemplate = CLARIFY }: DispatchSettings,
  asked: Asked,
  reasoning: string,
  nonce: string,
): string {
  const request = requestBlock(asked, nonce);
  const why = fenced('reasoning', nonce, reasoning);
  return `${fenceNote(nonce)}\n\n${filled(clarificationPromptTemplate, { request, reasoning: why, '0': request, '1': why })}`;
}

const UNCLEAR = 'I am not sure what you would like me to do. Can you say it in other words?';

/** What the user is asked, where no agent puts it into words. A person reads it, so nothing is fenced. */
export function userQuestion({ clarificationPromptTemplate }: DispatchSettings, asked: Asked, reasoning: string): string {
  const { request } = asked;
  if (clarificationPromptTemplate !== undefined)
    return filled(clarificationPromptTemplate, { request, reasoning, '0': request, '1': reasoning });
  return isQuestion(reasoning) ? reasoning : UNCLEAR;
}

/** Also where it is put into quotes or brackets, or is emphasised. */
export const isQuestion = (text: string): boolean => /[?？؟][)\]"'”’»*_]*$/.test(text.trimEnd());
