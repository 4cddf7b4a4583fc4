/**
 * A quick estimate of tokens, for the context guard and for reserving budget before a call: four characters to a token, a
 * fixed price for an image. What a message weighs is computed once, so asking again costs what is new.
 */
import type { Message } from '../events/messages.ts';
import type { ToolSpec } from './port.ts';

const CHARACTERS_PER_TOKEN = 4;
/** What a provider adds around each message. */
const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 1_600;

const weights = new WeakMap<Message, number>();
const toolWeights = new WeakMap<readonly ToolSpec[], number>();

export function estimateTokens(messages: readonly Message[], system = '', tools: readonly ToolSpec[] = []): number {
  let sum = textTokens(system) + toolTokens(tools);
  for (const message of messages) sum += messageTokens(message);
  return sum;
}

/** Text outside ASCII takes more tokens than characters suggest, so those characters count double. */
export function textTokens(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) wide += 1;
  return Math.ceil((text.length + wide) / CHARACTERS_PER_TOKEN);
}

export function messageTokens(message: Message): number {
  const known = weights.get(message);
  if (known !== undefined) return known;
  let sum = MESSAGE_TOKENS;
  for (const part of message.content) sum += partTokens(part);
  weights.set(message, sum);
  return sum;
}

function partTokens(part: Message['content'][number]): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return textTokens(part.text);
    case 'image':
      return IMAGE_TOKENS;
    case 'tool-call':
      return textTokens(part.name) + textTokens(part.malformed ?? JSON.stringify(part.input)) + MESSAGE_TOKENS;
    case 'tool-result': {
      let sum = MESSAGE_TOKENS;
      for (const item of part.content) sum += partTokens(item);
      return sum;
    }
  }
}

function toolTokens(tools: readonly ToolSpec[]): number {
  if (tools.length === 0) return 0;
  const known = toolWeights.get(tools);
  if (known !== undefined) return known;
  let sum = 0;
  for (const tool of tools) sum += textTokens(tool.name + tool.description + JSON.stringify(tool.inputSchema)) + MESSAGE_TOKENS;
  toolWeights.set(tools, sum);
  return sum;
}
