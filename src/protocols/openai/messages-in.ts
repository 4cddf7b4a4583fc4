/** What clients of OpenAI send of a conversation, as agents are given it. What no agent can read is refused by its name. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { UserMessage } from '../../events/messages.ts';
import type { SaidBefore, SaidTurn } from '../../front/chat/said-before.ts';
import { invalidValue, type OpenAiFailure, unsupported } from './errors.ts';

const part = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(part).max(limits.chatMessages)]).nullish();
export const givenMessage = z.looseObject({ role: z.string(), content });
export type GivenMessage = z.infer<typeof givenMessage>;

type Content = UserMessage['content'];

/** In the order in which it was said. The last word must be the caller's. */
export function conversationIn(
  agent: string,
  messages: readonly GivenMessage[],
  param: string,
  instructions: readonly string[] = [],
): Result<SaidBefore, OpenAiFailure> {
  const wanted: string[] = [...instructions];
  const turns: SaidTurn[] = [];
  for (const [index, { role, content: given }] of messages.entries()) {
    const at = `${param}[${index}]`;
    const read = contentIn(given, `${at}.content`);
    if (!read.ok) return read;
    const added = addTurn(turns, wanted, role, read.value);
    if (!added) return fail(invalidValue(`There is no role ${JSON.stringify(role.slice(0, 50))}.`, `${at}.role`));
  }
  if (turns.at(-1)?.answer !== undefined || turns.length === 0)
    return fail(invalidValue('The last message must be the user’s: there is nothing to answer.', param));
  return ok({ agent, instructions: wanted.join('\n\n'), turns });
}

function addTurn(turns: SaidTurn[], wanted: string[], role: string, said: Content): boolean {
  const text = said.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');
  const last = turns.at(-1);
  switch (role) {
    case 'system':
    case 'developer':
      wanted.push(text);
      return true;
    case 'user':
      if (last !== undefined && last.answer === undefined) turns[turns.length - 1] = { content: [...last.content, ...said] };
      else turns.push({ content: said });
      return true;
    case 'assistant':
      // What an agent opens a conversation with, before anybody has asked it something, is for nobody.
      if (last !== undefined) turns[turns.length - 1] = { ...last, answer: [last.answer ?? '', text].join('\n').trim() };
      return true;
    // What tools of another model gave: the answer that was made of it follows.
    case 'tool':
    case 'function':
      return true;
    default:
      return false;
  }
}

const textIn = z.looseObject({ text: z.string() });
const imageIn = z.looseObject({ image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) });
const DATA_IMAGE = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=]+)$/;
const TEXTS = new Set(['text', 'input_text', 'output_text', 'refusal']);

function contentIn(given: GivenMessage['content'], param: string): Result<Content, OpenAiFailure> {
  if (given === null || given === undefined) return ok([]);
  if (typeof given === 'string') return ok([{ type: 'text', text: given }]);
  const parts: Content = [];
  for (const [index, one] of given.entries()) {
    const at = `${param}[${index}]`;
    const text = TEXTS.has(one.type) ? textIn.safeParse({ text: one['text'] ?? one['refusal'] }) : undefined;
    const image = one.type === 'image_url' || one.type === 'input_image' ? imageIn.safeParse(one) : undefined;
    if (text?.success === true) parts.push({ type: 'text', text: text.data.text });
    else if (image?.success === true) {
      const read = imageOf(image.data.image_url, at);
      if (!read.ok) return read;
      parts.push(read.value);
    } else return fail(unsupported(at, `A part of the type ${JSON.stringify(one.type.slice(0, 50))} cannot be read here.`));
  }
  return ok(parts);
}

function imageOf(given: z.infer<typeof imageIn>['image_url'], param: string): Result<Content[number], OpenAiFailure> {
  const [, mediaType, data] = DATA_IMAGE.exec(typeof given === 'string' ? given : given.url) ?? [];
  if (mediaType === undefined || data === undefined)
    return fail(unsupported(param, 'Images come as data: URLs of PNG, JPEG, GIF or WebP; addresses are not fetched.'));
  if (data.length > (limits.imageBytes * 4) / 3) return fail(invalidValue(`The image is too large (limit imageBytes).`, param));
  return ok({ type: 'image', mediaType, data });
}

/** What a request may say that would change what comes: saying nothing of it would be a lie. */
export function refusedParameter(body: Readonly<Record<string, unknown>>): OpenAiFailure | undefined {
  const { tools, functions, n, response_format: format, conversation, prompt, text } = body;
  for (const [name, list] of Object.entries({ tools, functions }))
    if (Array.isArray(list) && list.length > 0)
      return unsupported(name, 'Agents have tools of their own, and call none of the client’s. Leave it out.');
  if (typeof n === 'number' && n !== 1) return unsupported('n', 'There is one answer.');
  if (typeOf(format) !== 'text' || typeOf(Object(text).format) !== 'text')
    return unsupported('response_format', 'What an agent answers with is in its file: output. Leave it out.');
  for (const [name, value] of Object.entries({ conversation, prompt }))
    if (value !== undefined && value !== null) return unsupported(name, 'Give previous_response_id to go on, or all messages.');
  return undefined;
}

const typeOf = (format: unknown): unknown => Object(format).type ?? 'text';
