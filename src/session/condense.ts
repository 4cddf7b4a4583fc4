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
const EXCERPT = 160;
const DIGEST_LINES = 400;

export type ContextVerdict = 'fits' | 'condense' | 'overflow';

/** `room` is the context window less what the answer may need. */
export function judgeContext(tokens: number, room: number): ContextVerdict {
  if (tokens > room) return 'overflow';
  return tokens > room * CONDENSE_ABOVE ? 'condense' : 'fits';
}

/**
 * How many messages from the front to condense so that the rest fits comfortably: at a turn's end, never the last turn.
 * `undefined` when nothing would be gained.
 */
export function condensable(
  messages: readonly Message[],
  requestIndex: number,
  room: number,
  tokensOf: (message: Message) => number,
): number | undefined {
  const ends = turnEnds(messages, requestIndex);
  let kept = messages.reduce((sum, message) => sum + tokensOf(message), 0);
  let taken = 0;
  for (const end of ends.slice(0, -1)) {
    for (; taken < end; taken += 1) kept -= tokensOf(messages[taken] as Message);
    if (kept <= room * CONDENSE_TO) return end;
  }
  return taken > requestIndex + 1 ? taken : undefined;
}

/** The places after which the conversation may be cut: before each assistant message that follows the request. */
function turnEnds(messages: readonly Message[], requestIndex: number): number[] {
  const ends: number[] = [];
  for (let index = requestIndex + 2; index < messages.length; index += 1) {
    if (messages[index]?.role === 'assistant') ends.push(index);
  }
  return ends;
}

export function digest(messages: readonly Message[], reference: (item: Message | ToolResultPart) => string | undefined): string {
  const lines: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') for (const part of message.content) lines.push(resultLine(part, reference(part)));
    else if (message.role === 'assistant') lines.push(...assistantLines(message, reference(message)));
    else lines.push(line('told', textOf(message.content), reference(message)));
  }
  const shown = lines.slice(-DIGEST_LINES);
  const left = lines.length - shown.length;
  return [
    'Earlier steps of this work, condensed to save room. The originals are in the ledger under the ids in brackets.',
    ...(left > 0 ? [`(${left} still older steps are not listed)`] : []),
    ...shown,
  ].join('\n');
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
