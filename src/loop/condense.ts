/**
 * Keeps the conversation inside the model's context window. When it grows too large, the oldest turns are replaced by a
 * digest made without a model: one line per step, each with a reference to the original in the ledger. Calls and their
 * results always go together, since providers refuse one without the other.
 *
 * It happens seldom: what is kept leaves room for several turns of the usual size, and the digest is bounded like the rest.
 */
import { limits } from '../base/limits.ts';
import { startOf } from '../base/whole-words.ts';
import type { Message, ToolCallPart, ToolResultPart, UserMessage } from '../events/messages.ts';
import { textOf } from '../events/messages.ts';
import { textTokens } from '../models/tokens.ts';

/** Above this share of the room, old turns are condensed. */
const CONDENSE_ABOVE = 0.85;
/** What is kept, digest included, fills at most the first share and need not be less than the second. */
const MOST_KEPT = 0.5;
const LEAST_KEPT = 0.25;
/** Turns of the usual size that should fit before it happens again. */
const TURNS_BETWEEN = 12;
/** The digest itself fills at most this share of the room. */
const DIGEST_SHARE = 0.1;
/** Condensing that gives back less than this share of the room is left alone as long as everything fits. */
const WORTH_IT = 0.1;
const EXCERPT = 160;

const HEADING = 'Earlier steps of this work, condensed to save room. The originals are in the ledger under the ids in brackets.';
const STILL_OLDER = /^\((\d+) still older steps are not listed\)$/;

export type ContextVerdict = 'fits' | 'condense' | 'overflow';

/** `room` is the context window less what the answer may need. */
export function judgeContext(tokens: number, room: number, messages: number): ContextVerdict {
  if (tokens > room) return 'overflow';
  return tokens > room * CONDENSE_ABOVE || messages > limits.conversationMessages ? 'condense' : 'fits';
}

export interface Filled {
  readonly messages: readonly Message[];
  /** Stays whatever else goes. */
  readonly request: UserMessage;
  /** What everything together fills now, prompt and tools included. */
  readonly total: number;
  readonly room: number;
  tokensOf(message: Message): number;
}

/**
 * Where to cut: everything before goes, but the request. Whole turns, never the last one, and only if it gives back enough
 * to be worth it.
 */
export function condensable(filled: Filled): number | undefined {
  const { messages, request, total, room, tokensOf } = filled;
  const target = keptTokens(filled);
  let kept = total + digestTokens(room);
  let cut = 0;
  for (const end of cuts(messages, request)) {
    for (; cut < end; cut += 1) if (messages[cut] !== request) kept -= tokensOf(messages[cut] as Message);
    if (kept <= target && messages.length - cut <= limits.conversationMessages / 2) break;
  }
  if (cut > 0 && messages.length > limits.conversationMessages) return cut;
  return cut > 0 && total - kept > (total > room ? 0 : room * WORTH_IT) ? cut : undefined;
}

/** Where to cut when it is wanted: of what was said before the request only the last turn stays. */
export function beforeLastTurn({ messages, request }: Pick<Filled, 'messages' | 'request'>): number | undefined {
  const cut = messages.slice(0, messages.indexOf(request)).findLastIndex(({ role }) => role === 'assistant');
  return cut > 0 ? cut : undefined;
}

/** So much that some more turns like those before fit on top of it. */
function keptTokens({ messages, total, room, tokensOf }: Filled): number {
  const turns = messages.filter((message) => message.role === 'assistant').length;
  const first = messages.findIndex((message) => message.role === 'assistant');
  let spoken = 0;
  if (first !== -1) for (let index = first; index < messages.length; index += 1) spoken += tokensOf(messages[index] as Message);
  const usual = turns === 0 ? total : spoken / turns;
  return Math.min(room * MOST_KEPT, Math.max(room * LEAST_KEPT, room * CONDENSE_ABOVE - TURNS_BETWEEN * usual));
}

/** Where the conversation may be cut: before a turn, and up to the request also before what somebody else said. */
function cuts(messages: readonly Message[], request: UserMessage): number[] {
  const asked = messages.indexOf(request);
  return messages.flatMap(({ role }, index) =>
    index > 0 && (role === 'assistant' || (role === 'user' && index <= asked)) ? [index] : [],
  );
}

export const digestTokens = (room: number): number => Math.floor(room * DIGEST_SHARE);

/** The newest steps that fit; those before them are only counted. */
export function digest(
  messages: readonly Message[],
  reference: (item: Message | ToolResultPart) => string | undefined,
  maxTokens: number,
): string {
  const lines: string[] = [];
  let older = 0;
  for (const message of messages) {
    const earlier = message.role === 'user' ? earlierDigest(textOf(message.content)) : undefined;
    if (earlier !== undefined) {
      lines.push(...earlier.lines);
      older += earlier.older;
    } else if (message.role === 'tool') for (const part of message.content) lines.push(resultLine(part, reference(part)));
    else if (message.role === 'assistant') lines.push(...assistantLines(message, reference(message)));
    else lines.push(line('told', textOf(message.content), reference(message)));
  }
  let left = maxTokens - textTokens(HEADING) - textTokens(stillOlder(lines.length + older));
  let from = lines.length;
  for (; from > 0; from -= 1) {
    left -= textTokens(lines[from - 1] as string) + 1;
    if (left < 0) break;
  }
  older += from;
  return [HEADING, ...(older > 0 ? [stillOlder(older)] : []), ...lines.slice(from)].join('\n');
}

const stillOlder = (steps: number): string => `(${steps} still older steps are not listed)`;

/** What a digest that is itself condensed tells: its lines go on as they are, so that no reference is lost before its time. */
function earlierDigest(text: string): { readonly lines: string[]; readonly older: number } | undefined {
  if (!text.startsWith(HEADING)) return undefined;
  const all = text.split('\n');
  return { lines: all.filter((one) => one.startsWith('- ')), older: Number(STILL_OLDER.exec(all[1] ?? '')?.[1] ?? 0) };
}

function assistantLines(message: Extract<Message, { role: 'assistant' }>, id: string | undefined): string[] {
  const text = textOf(message.content).trim();
  const calls = message.content.filter((part): part is ToolCallPart => part.type === 'tool-call');
  return [
    ...(text === '' ? [] : [line('you said', text, id)]),
    ...calls.map((call) => line(`you called ${call.name}`, JSON.stringify(call.input), id)),
  ];
}

function resultLine(part: ToolResultPart, id: string | undefined): string {
  return line(`${part.name} ${part.isError === true ? 'failed' : 'gave'}`, textOf(part.content), id);
}

function line(label: string, text: string, id: string | undefined): string {
  // No more is looked at than can be shown: white space that goes is no more than what stays.
  const flat = text
    .slice(0, EXCERPT * 4)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...flat.slice(0, EXCERPT * 2)];
  const whole = text.length <= EXCERPT * 4 && characters.length <= EXCERPT;
  const shown = whole ? flat : `${startOf(flat, characters.slice(0, EXCERPT).join('').length)}…`;
  return `- ${label}: ${shown}${id === undefined ? '' : ` [${id}]`}`;
}
