/** The tool calls of one run as its tree shows them: those under way, and the newest that were made, or were not. */
import type { EventId, RunId } from '../base/ids.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { EventOf } from '../events/envelope.ts';
import { toolCallsOf } from '../events/messages.ts';
import { firstLine } from './readable.ts';

export interface ToolUnderWay {
  readonly id: string;
  readonly name: string;
  readonly since: number;
}

/** A tool call as the tree shows it. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  /** What it was about, in a few words: a path, a command. */
  readonly subject: string;
  readonly durationMs: number | null;
  readonly failed: boolean;
  /** It was refused: somebody said no, or it was not allowed. */
  readonly notRun: boolean;
  readonly event: EventId;
  readonly turn: number;
  /** Where it stands among what the run did; the calls of one turn stand in the order in which they were asked for. */
  readonly position: number;
  /** The run that the call became, when it is the call of an agent. */
  readonly child: RunId | null;
}

export interface CallsOfRun {
  readonly tools: readonly ToolUnderWay[];
  /** The newest calls, oldest first; `toolCalls` counts all that have ended. */
  readonly recent: readonly ToolUse[];
  /** What the last answer asked for, by call. */
  readonly asked: readonly { readonly id: string; readonly subject: string }[];
}

/** How many calls a node keeps to show. */
const RECENT_CALLS = 12;
const SUBJECT_CHARACTERS = 60;

export function askedFor({ payload }: EventOf<'model.response'>): CallsOfRun['asked'] {
  return toolCallsOf(payload.message).map(({ id, input }) => ({ id, subject: subjectOf(input) }));
}

/** The first argument that is a text says best what a call is about. */
function subjectOf(input: Json): string {
  if (!isJsonObject(input)) return '';
  const text = Object.values(input).find((value) => typeof value === 'string');
  return typeof text === 'string' ? firstLine(text, SUBJECT_CHARACTERS) : '';
}

type Shown = Pick<CallsOfRun, 'tools' | 'recent'>;

/** With a call that begins. */
export function callsWith(calls: CallsOfRun, event: EventOf<'tool.call'>, at: number): Shown {
  const { id, name, turn, input: changed } = event.payload;
  // Whoever approved the call may have changed it.
  const subject = changed === undefined ? subjectAsked(calls, id) : subjectOf(changed);
  const use = { id, name, subject, durationMs: null, failed: false, notRun: false, turn, child: null };
  // One that was refused when the run ended may be made now that it goes on.
  const before = { ...calls, recent: calls.recent.filter((one) => !(one.notRun && one.id === id && one.turn === turn)) };
  const recent = inOrderAsked(before, { ...use, event: event.event_id, position: event.position }).slice(-RECENT_CALLS);
  return { tools: [...calls.tools, { id, name, since: at }], recent };
}

/** With a call that has ended, or was never made. */
export function callsAfter(calls: CallsOfRun & { readonly turn: number }, event: EventOf<'tool.result'>): Shown {
  const { id, name, durationMs, isError } = event.payload;
  const { turn } = calls;
  const failed = isError === true;
  const tools = calls.tools.filter((tool) => tool.id !== id);
  // One that was undone ends anew.
  const index = calls.recent.findLastIndex((use) => use.id === id && (use.durationMs === null || use.turn === turn));
  if (index >= 0) return { tools, recent: calls.recent.map((use, at) => (at === index ? { ...use, durationMs, failed } : use)) };
  // A question that was answered is no call, and one that was made may stand too far back to be shown.
  if (!failed || tools.length < calls.tools.length) return { tools, recent: calls.recent };
  const place = { event: event.event_id, turn, position: event.position, child: null };
  const use = { id, name, subject: subjectAsked(calls, id), durationMs, failed, notRun: true, ...place };
  return { tools, recent: inOrderAsked(calls, use).slice(-RECENT_CALLS) };
}

/** With the calls that were turned away before anything was recorded of them: the next request answers them. */
export function callsTurnedAway(
  calls: CallsOfRun & { readonly turn: number },
  event: EventOf<'model.request'>,
): readonly ToolUse[] {
  const answers = event.payload.added.flatMap((one) =>
    'message' in one && one.message.role === 'tool' ? one.message.content.filter((part) => part.turnedAway === true) : [],
  );
  const place = { event: event.event_id, turn: calls.turn, position: event.position, child: null };
  return answers.reduce<readonly ToolUse[]>((recent, { id, name }) => {
    const use = { id, name, subject: subjectAsked(calls, id), durationMs: 0, failed: true, notRun: true, ...place };
    return inOrderAsked({ ...calls, recent }, use).slice(-RECENT_CALLS);
  }, calls.recent);
}

const subjectAsked = ({ asked }: CallsOfRun, id: string): string => asked.find((one) => one.id === id)?.subject ?? '';

/** Calls that run beside each other begin in any order: which comes first is chance and says nothing. */
function inOrderAsked({ recent, asked }: CallsOfRun, use: ToolUse): readonly ToolUse[] {
  const order = new Map(asked.map(({ id }, index) => [id, index]));
  const beside = [...recent.filter(({ turn }) => turn === use.turn), use];
  const sorted = beside.toSorted((left, right) => (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0));
  return [
    ...recent.filter(({ turn }) => turn !== use.turn),
    ...sorted.map((one, index) => ({ ...one, position: beside[index]?.position ?? one.position })),
  ];
}
