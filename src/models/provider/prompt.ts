/**
 * Our messages in the words of the AI SDK's providers. Messages never change once made, so each is translated once and
 * remembered: the cost of a turn is that of its new messages.
 */
import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isJsonObject } from '../../base/json.ts';
import type { ImagePart, Message, ToolCallPart, ToolMessage, ToolResultPart } from '../../events/messages.ts';

/** What the providers differ in, as far as it shows in a prompt. */
export interface Dialect {
  /** Whose opaque parts (signatures, encrypted reasoning) may go back; those of others are left out. */
  readonly provider: string;
  /** Chat-completions has no place for an image in a tool result: it follows as a message of its own. */
  readonly toolImages: 'inline' | 'after';
  /** Giving arguments as JSON text spares some providers from writing them out again in every turn. */
  readonly toolInput: 'value' | 'text';
  /** Chat-completions has one place for reasoning and does not say when it came; streams show that it is first. */
  readonly reasoningFirst: boolean;
  /** Anthropic caches a prompt only where it is told to. */
  readonly cacheMarks: boolean;
}

type ProviderOptions = NonNullable<LanguageModelV4Message['providerOptions']>;
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type ToolContent = Extract<LanguageModelV4Message, { role: 'tool' }>['content'];
type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output'];

const CACHE_MARK: ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

export type PromptWriter = (system: string, messages: readonly Message[]) => LanguageModelV4Prompt;

export function createPromptWriter(dialect: Dialect): PromptWriter {
  const written = new WeakMap<Message, readonly LanguageModelV4Message[]>();
  return (system, messages) => {
    const prompt: LanguageModelV4Prompt = [];
    if (system !== '')
      prompt.push({ role: 'system', content: system, ...(dialect.cacheMarks && { providerOptions: CACHE_MARK }) });
    for (const message of messages) {
      let parts = written.get(message);
      if (parts === undefined) {
        parts = writeMessage(message, dialect);
        written.set(message, parts);
      }
      for (const part of parts) prompt.push(part);
    }
    if (dialect.cacheMarks) markLast(prompt);
    return prompt;
  };
}

/** The mark moves with the end of the conversation, so it is put on a copy. */
function markLast(prompt: LanguageModelV4Prompt): void {
  const last = prompt.at(-1);
  if (last !== undefined && last.role !== 'system') prompt[prompt.length - 1] = { ...last, providerOptions: CACHE_MARK };
}

function writeMessage(message: Message, dialect: Dialect): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.content.map((part) => (part.type === 'text' ? part : writeImage(part))) }];
    case 'assistant': {
      const content: AssistantContent = [];
      for (const part of message.content) {
        if (part.type === 'text') content.push(part);
        else if (part.type === 'tool-call') content.push(writeToolCall(part, dialect));
        else if (part.provider === dialect.provider)
          content.push({ type: 'reasoning', text: part.text, ...optionsOf(part.opaque) });
      }
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool':
      return writeToolMessage(message, dialect);
  }
}

function writeToolCall(part: ToolCallPart, dialect: Dialect): AssistantContent[number] {
  return {
    type: 'tool-call',
    toolCallId: part.id,
    toolName: part.name,
    input: dialect.toolInput === 'text' ? JSON.stringify(part.input) : part.input,
    ...(part.provider === dialect.provider ? optionsOf(part.opaque) : {}),
  };
}

function writeToolMessage(message: ToolMessage, dialect: Dialect): readonly LanguageModelV4Message[] {
  const messages: LanguageModelV4Message[] = [
    {
      role: 'tool',
      content: message.content.map((part) => ({
        type: 'tool-result',
        toolCallId: part.id,
        toolName: part.name,
        output: writeOutput(part, dialect),
      })),
    },
  ];
  if (dialect.toolImages === 'inline') return messages;
  const images = message.content.flatMap((part) => part.content.filter((item) => item.type === 'image'));
  if (images.length > 0) messages.push({ role: 'user', content: images.map(writeImage) });
  return messages;
}

function writeOutput(part: ToolResultPart, dialect: Dialect): ToolOutput {
  const hasImages = part.content.some((item) => item.type === 'image');
  if (hasImages && dialect.toolImages === 'inline') {
    return { type: 'content', value: part.content.map((item) => (item.type === 'text' ? item : writeImage(item))) };
  }
  const texts = part.content.map((item) => (item.type === 'text' ? item.text : '[the image follows in the next message]'));
  return { type: part.isError === true ? 'error-text' : 'text', value: texts.join('\n') };
}

function writeImage(part: ImagePart): LanguageModelV4FilePart & { readonly data: { type: 'url' | 'data' } } {
  const data: LanguageModelV4FilePart['data'] = /^https?:\/\//.test(part.data)
    ? { type: 'url', url: new URL(part.data) }
    : { type: 'data', data: part.data };
  return { type: 'file', mediaType: part.mediaType, data };
}

/** Opaque parts come back from the ledger as JSON; the providers check what is inside. */
function optionsOf(opaque: unknown): { providerOptions?: ProviderOptions } {
  return isJsonObject(opaque) ? { providerOptions: opaque as ProviderOptions } : {};
}
