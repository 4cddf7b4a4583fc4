/**
 * Keeps the conversation inside the model's context window. When it grows too large, the oldest turns are replaced by a
 * digest made without a model: one line per step, each with a reference to the original in the ledger. Calls and their
 * results always go together, since providers refuse one without the other.
 */
import type { Message, ToolCallPart, ToolResultPart } from '../events/messages.ts';
import { textOf } from '../events/messages.ts';

/** Above this share of the room, old turns are condensed; below the second they are left alone, so that it happens seldom. */
const CONDENSE_ABOVE = 0.8;
const CONDENSE_TO = 0.5;
/** Condensing that gives back less than this share of the room is left alone. */
const WORTH_IT = 0.1;
const EXCERPT = 160;
const DIGEST_LINES = 400;
const HEADING = 'Earlier steps of this work, condensed to save room. The originals are in the ledger under the ids in brackets.';

export type ContextVerdict = 'fits' | 'condense' | 'overflow';

/** `room` is the context window less what the answer may need. */
export function judgeContext(tokens: number, room: number): ContextVerdict {
  if (tokens > room) return 'overflow';
  return tokens > room * CONDENSE_ABOVE ? 'condense' : 'fits';
}

/**
 * How many messages from the front to condense so that the rest fits comfortably: whole turns, never the last one, and only
 * if it gives back enough to be worth it. `total` is what everything together fills now, prompt and tools included.
 */
export function condensable(
  messages: readonly Message[],
  total: number,
  room: number,
  tokensOf: (message: Message) => number,
): number | undefined {
  let kept = total;
  let taken = 0;
  for (const end of turnEnds(messages).slice(0, -1)) {
    for (; taken < end; taken += 1) kept -= tokensOf(messages[taken] as Message);
    if (kept <= room * CONDENSE_TO) break;
  }
  return total - kept >= room * WORTH_IT ? taken : undefined;
}

/** Where the conversation may be cut so that at least one whole turn goes: before every assistant message but the first. */
function turnEnds(messages: readonly Message[]): number[] {
  const starts = messages.flatMap((message, index) => (message.role === 'assistant' ? [index] : []));
  return starts.slice(1);
}

export function digest(messages: readonly Message[], reference: (item: Message | ToolResultPart) => string | undefined): string {
  const lines: string[] = [];
  for (const message of messages) {
    const earlier = message.role === 'user' ? earlierDigest(textOf(message.content)) : undefined;
    if (earlier !== undefined) lines.push(...earlier);
    else if (message.role === 'tool') for (const part of message.content) lines.push(resultLine(part, reference(part)));
    else if (message.role === 'assistant') lines.push(...assistantLines(message, reference(message)));
    else lines.push(line('told', textOf(message.content), reference(message)));
  }
  const shown = lines.slice(-DIGEST_LINES);
  const left = lines.length - shown.length;
  return [HEADING, ...(left > 0 ? [`(${left} still older steps are not listed)`] : []), ...shown].join('\n');
}

/** The lines of a digest that is itself condensed: they go on as they are, so that no reference is lost. */
function earlierDigest(text: string): string[] | undefined {
  return text.startsWith(HEADING) ? text.split('\n').filter((one) => one.startsWith('- ')) : undefined;
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
  const flat = text.replace(/\s+/g, ' ').trim();
  const excerpt = flat.length > EXCERPT ? `${[...flat].slice(0, EXCERPT).join('')}…` : flat;
  return `- ${label}: ${excerpt}${id === undefined ? '' : ` [${id}]`}`;
}
