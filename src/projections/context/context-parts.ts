/**
 * The parts of a conversation by where they came from, and the same conversation without some of them. What others said stands
 * fenced in a message (`src/base/fence.ts`): each fence is a part of its own.
 */
import { present } from '../../base/present.ts';
import type { LeftOutPart } from '../../events/going-on.ts';
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  type ToolResultPart,
  textOf,
  type UserMessage,
} from '../../events/messages.ts';

export interface ContextPiece {
  /** `input`, `answer`, `tool <name>`, `fenced <label>`, or `runtime`: words that a pattern or the runtime put there. */
  readonly origin: string;
  /** The run and the step that it came from, where it came from one. */
  readonly from: string | null;
  /** Of words that a person, an agent or the runtime wrote. */
  readonly words: string | null;
  /** What is sent of it. */
  readonly sent: Message | string;
}

/** The run and the step that a message or a result came from. */
export type OriginOf = (item: Message | ToolResultPart) => string | undefined;

/** What stands in the place of a part that is left out: calls keep their results, and everything else its place. */
export const NOT_SHOWN = '[left out]';

/** As a model is sent them, in this order. */
export function piecesOf(message: Message, originOf: OriginOf): readonly ContextPiece[] {
  switch (message.role) {
    case 'tool':
      return message.content.map((part): ContextPiece => {
        const from = originOf(part) ?? null;
        return { origin: `tool ${part.name}`, from, words: null, sent: { role: 'tool', content: [part] } };
      });
    case 'assistant':
      return [{ origin: 'answer', from: originOf(message) ?? null, words: null, sent: message }];
    case 'user':
      return userPieces(message, originOf(message) ?? null);
  }
}

function userPieces(message: UserMessage, from: string | null): readonly ContextPiece[] {
  const origin = from === null ? 'runtime' : 'input';
  const words = message.content.flatMap((part) => (part.type === 'text' ? wordsIn(part.text) : []));
  if (!words.some(({ label }) => label !== undefined)) return [{ origin, from, words: textOf(message.content), sent: message }];
  const images = message.content.filter((part) => part.type === 'image');
  const pictures = images.length === 0 ? [] : [{ origin, from, words: '', sent: { ...message, content: images } }];
  const pieces = words.map(({ label, text }) => ({
    ...{ origin: label === undefined ? origin : `fenced ${label}`, from, words: text, sent: text },
  }));
  return [...pieces, ...pictures];
}

interface Words {
  readonly label: string | undefined;
  readonly text: string;
  /** With the fence around it. */
  readonly whole: string;
}

const FENCE = /<([a-z]+)-([\w-]{6,64})>\n([\s\S]*?)\n<\/\1-\2>/g;

/** A text as what stands in fences and what stands between them. */
function wordsIn(text: string): readonly Words[] {
  const found: Words[] = [];
  let after = 0;
  const between = (until: number): void => {
    const whole = text.slice(after, until);
    if (whole.trim() !== '') found.push({ label: undefined, text: whole, whole });
  };
  for (const match of text.matchAll(FENCE)) {
    const [whole, label, , inside = ''] = match;
    between(match.index);
    found.push({ label, text: inside, whole });
    after = match.index + whole.length;
  }
  between(text.length);
  return found;
}

/** Whether this is one of those that are left out: words by what they say, all else by where it came from. */
const isLeft = (without: readonly LeftOutPart[], origin: string, from: string | undefined, words: string | null): boolean =>
  without.some(
    (part) => part.origin === origin && (words === null ? part.from !== undefined && part.from === from : part.text === words),
  );

/** Whether the prompt of the agent is among them. */
export const leavesSystem = (without: readonly LeftOutPart[] | undefined): boolean =>
  without?.some(({ origin }) => origin === 'system') === true;

/** What goes out to the model. A message of which nothing is left out is the same object. */
export function withoutParts(
  messages: readonly Message[],
  without: readonly LeftOutPart[],
  originOf: OriginOf,
): readonly Message[] {
  if (without.length === 0) return messages;
  return messages.map((message): Message => {
    if (message.role === 'tool') return resultsWithout(message, without, originOf);
    if (message.role === 'user') return userWithout(message, without);
    return isLeft(without, 'answer', originOf(message), null) ? withoutWords(message) : message;
  });
}

function resultsWithout(message: ToolMessage, without: readonly LeftOutPart[], originOf: OriginOf): Message {
  const content = message.content.map((part) => {
    if (!isLeft(without, `tool ${part.name}`, originOf(part), null)) return part;
    return { ...part, content: [{ type: 'text' as const, text: NOT_SHOWN }] };
  });
  return content.every((part, index) => part === message.content[index]) ? message : { role: 'tool', content };
}

/** Its calls stay, since results hang on them. */
function withoutWords(message: AssistantMessage): Message {
  const rest = message.content.filter((part) => part.type !== 'text');
  return { role: 'assistant', content: [{ type: 'text', text: NOT_SHOWN }, ...rest] };
}

/** Whose words they are was looked at when they were chosen; here they are known by themselves. */
function userWithout(message: UserMessage, without: readonly LeftOutPart[]): UserMessage {
  const own = without.filter(({ origin, text }) => text !== undefined && (origin === 'input' || origin === 'runtime'));
  const whole = textOf(message.content);
  if (own.some(({ text }) => text === whole)) return { role: 'user', content: [{ type: 'text', text: NOT_SHOWN }] };
  let isSame = true;
  const noPictures = own.some(({ text }) => text === '');
  const content = message.content.map((part): UserMessage['content'][number] => {
    if (part.type !== 'text') {
      isSame &&= !noPictures;
      return noPictures ? { type: 'text', text: NOT_SHOWN } : part;
    }
    let { text } = part;
    for (const { label, text: words, whole: shown } of wordsIn(part.text)) {
      const left =
        label === undefined ? own.some((one) => one.text === words) : isLeft(without, `fenced ${label}`, undefined, words);
      if (left)
        text = text.replace(shown, () => shown.replace(words, () => (label === undefined ? `\n\n${NOT_SHOWN}\n\n` : NOT_SHOWN)));
    }
    isSame &&= text === part.text;
    return { ...part, text };
  });
  return isSame ? message : { role: 'user', content };
}

/** What is recorded of parts that are left out. */
export const leftOutPart = ({ origin, from, words }: ContextPiece): LeftOutPart => ({
  origin,
  ...present(words === null ? { from: from ?? undefined } : { text: words }),
});

const QUOTED = 40;
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A summary that stands for what grew too long quotes how each step began (`src/loop/condense.ts`): of these it does not. */
export function summaryWithout(text: string, without: readonly LeftOutPart[]): string {
  if (without.length === 0) return text;
  const words = without.flatMap((part) => (part.text === undefined ? [] : [flat(part.text).slice(0, QUOTED)]));
  const isQuoted = (line: string): boolean =>
    line.startsWith('- told: ')
      ? words.some((begins) => begins !== '' && line.includes(begins))
      : without.some(({ from }) => from !== undefined && line.endsWith(` [${from}]`) && !line.startsWith('- you called '));
  const lines = text.split('\n').map((line) => {
    if (!line.startsWith('- ') || !isQuoted(line)) return line;
    return `${line.slice(0, line.indexOf(': '))}: ${NOT_SHOWN}${/ \[[^[\]]+\]$/.exec(line)?.[0] ?? ''}`;
  });
  return lines.join('\n');
}
