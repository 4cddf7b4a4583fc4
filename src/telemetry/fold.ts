/**
 * Spans as a fold of the ledger. A span is told by the event that finishes it, whole and once: nothing is told of what is still
 * going on, and nothing is ever changed afterwards.
 *
 * - O1 The same events give the same spans, with the same ids, in whichever process and however often they are folded.
 * - O2 A fold that begins in the middle of a session and was shown what came before (`foldSpans` without using its answer) goes
 *   on as if it had been there from the start.
 * - O3 No words of people, agents or tools, unless content is wanted; what an executor calls its work counts as words.
 */
import type { EventId, RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import type { EventType } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { UserMessage } from '../events/messages.ts';
import { parentRun, roleInTree } from '../events/run-origin.ts';
import { type Attributes, type FinishedSpan, type SpanEvent, spanOfEvent, spanOfRun, traceOf } from './span.ts';
import * as told from './told.ts';

/** What a span can begin or end with: all others need not be read. */
export const spanTypes = [
  ...(['run.started', 'run.ended', 'run.reopened', 'model.request', 'model.response', 'model.failed'] as const),
  ...(['tool.call', 'tool.result', 'approval.asked', 'approval.answered', 'executor.call', 'executor.result'] as const),
] as const satisfies readonly EventType[];

interface KnownRun {
  readonly root: RunId;
  readonly traceId: string;
  readonly agent: string;
  readonly isGroup: boolean;
  readonly role: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly input: UserMessage | undefined;
  startMs: number;
  spanId: string;
  after: string | undefined;
}

interface Begun {
  readonly event: EventId;
  readonly startMs: number;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
  readonly events: SpanEvent[];
  readonly input: (() => string | undefined) | undefined;
  readonly name: string;
}

/** Of one session. */
export interface SpanFold {
  readonly wording: told.Wording;
  readonly runs: Map<RunId, KnownRun>;
  /** What has begun and is not finished, by run and step, or by the name that it has itself. */
  readonly begun: Map<string, Begun>;
  /** Spans of calls under way, by the event that they began with: what is started by one hangs below it. */
  readonly calls: Map<EventId, string>;
  /** What calls were asked for with, by run and call: kept only where content is wanted, until the call is over. */
  readonly asked: Map<string, Json>;
}

export const createSpanFold = (wording: told.Wording): SpanFold => ({
  ...{ wording, runs: new Map(), begun: new Map(), calls: new Map(), asked: new Map() },
});

/** Updates the fold, and gives the spans that this event finishes: one, or none. */
export function foldSpans(fold: SpanFold, event: LedgerEvent): readonly FinishedSpan[] {
  switch (event.event_type) {
    case 'run.started':
      return startRun(fold, event);
    case 'run.reopened':
      return reopenRun(fold, event);
    case 'run.ended':
      return endRun(fold, event);
    case 'model.request':
      return beginChat(fold, event);
    case 'model.failed':
      return failChat(fold, event);
    case 'model.response':
      return endChat(fold, event);
    case 'tool.call':
      return beginTool(fold, event);
    case 'tool.result':
      return endTool(fold, event);
    case 'executor.call':
      return beginExecutorCall(fold, event);
    case 'executor.result':
      return endExecutorCall(fold, event);
    case 'approval.asked':
      return beginWait(fold, event);
    case 'approval.answered':
      return endWait(fold, event);
    default:
      return [];
  }
}

/** What begins finishes nothing. */
const NONE: readonly FinishedSpan[] = [];
const at = ({ timestamp }: LedgerEvent): number => Date.parse(timestamp);
const stepOf = ({ run_id, step }: LedgerEvent): string => `${run_id} ${step}`;

function startRun({ runs, calls, wording }: SpanFold, event: EventOf<'run.started'>): readonly FinishedSpan[] {
  const { agent, origin, input } = event.payload;
  const above = runs.get((parentRun(event.payload) ?? '') as RunId);
  const cause = event.parent_event_id === null ? undefined : calls.get(event.parent_event_id);
  const root = above?.root ?? event.run_id;
  runs.set(event.run_id, {
    root,
    traceId: above?.traceId ?? traceOf(event.session_id, root),
    agent,
    isGroup: origin.kind === 'group',
    role: roleInTree(event.payload),
    parentSpanId: above && (cause ?? above.spanId),
    input: wording.content && input.role === 'user' ? input : undefined,
    startMs: at(event),
    spanId: spanOfRun(event.run_id),
    after: undefined,
  });
  return NONE;
}

/** What comes now is another span: the first one was told, and stays as it is. */
function reopenRun({ runs }: SpanFold, event: EventOf<'run.reopened'>): readonly FinishedSpan[] {
  const run = runs.get(event.run_id);
  if (run === undefined) return NONE;
  run.after = run.spanId;
  run.spanId = spanOfRun(event.run_id, event.event_id);
  run.startMs = at(event);
  return NONE;
}

function endRun(fold: SpanFold, event: EventOf<'run.ended'>): readonly FinishedSpan[] {
  const run = fold.runs.get(event.run_id);
  if (run === undefined) return [];
  const { wording } = fold;
  const { operation } = wording.names;
  const attributes = {
    ...told.runAttributes(wording, run.isGroup, run.input, event),
    ...present({ 'troupe.role': run.role }),
  };
  const { spanId, parentSpanId, startMs, after, isGroup, agent } = run;
  const name = `${isGroup ? operation.workflow : operation.agent} ${agent}`;
  const failed = told.hasFailed(event.payload.status);
  return [spanOf(fold, event, { spanId, parentSpanId, startMs, after, name, kind: 'internal', failed, attributes })];
}

function beginChat(fold: SpanFold, event: EventOf<'model.request'>): readonly FinishedSpan[] {
  const { model, added } = event.payload;
  const { wording } = fold;
  const own = added.flatMap((one) => ('message' in one ? [one.message] : []));
  const said = () => (own.length === 0 ? undefined : JSON.stringify(own.map((message) => told.messageValue(message))));
  return begin(fold, stepOf(event), event, {
    name: wording.names.operation.chat,
    attributes: {
      ...told.askedAttributes(wording, model),
      'troupe.turn': event.payload.turn,
      ...told.spokenAs(wording, wording.names.inputMessages, said),
    },
  });
}

/** One that is tried again is a mark on the span; the last word ends it. */
function failChat(fold: SpanFold, event: EventOf<'model.failed'>): readonly FinishedSpan[] {
  const { final, error, model, attempt, usage, cost } = event.payload;
  if (final)
    return finish(fold, stepOf(event), event, {
      ...{ kind: 'client', failed: true },
      attributes: { 'error.type': error.kind, ...told.spentAttributes(fold.wording, usage, cost) },
    });
  const attributes = { 'error.type': error.kind, 'troupe.model': model, 'troupe.attempt': attempt };
  fold.begun.get(stepOf(event))?.events.push({ name: 'troupe.attempt_failed', atMs: at(event), attributes });
  return [];
}

function endChat(fold: SpanFold, event: EventOf<'model.response'>): readonly FinishedSpan[] {
  const { served, durationMs } = event.payload;
  const name = `${fold.wording.names.operation.chat} ${served.replace(/^[^/:]+\//, '')}`;
  const attributes = told.answeredAttributes(fold.wording, event.payload);
  if (fold.wording.content)
    for (const part of event.payload.message.content)
      if (part.type === 'tool-call') fold.asked.set(`${event.run_id} ${part.id}`, part.input);
  return finish(fold, stepOf(event), event, { kind: 'client', failed: false, attributes, name, durationMs });
}

function beginTool(fold: SpanFold, event: EventOf<'tool.call'>): readonly FinishedSpan[] {
  const { name, id, input = fold.asked.get(`${event.run_id} ${id}`) } = event.payload;
  const { tool } = fold.wording.names.operation;
  const given = fold.wording.content && input !== undefined ? () => JSON.stringify(input) : undefined;
  fold.calls.set(event.event_id, spanOfEvent(event.event_id));
  return begin(fold, stepOf(event), event, { name: `${tool} ${name}`, attributes: {}, ...present({ input: given }) });
}

function endTool(fold: SpanFold, event: EventOf<'tool.result'>): readonly FinishedSpan[] {
  const { name, id, content, isError = false, inDoubt, durationMs } = event.payload;
  const key = stepOf(event);
  const begun = fold.begun.get(key);
  if (begun !== undefined) fold.calls.delete(begun.event);
  fold.asked.delete(`${event.run_id} ${id}`);
  const tool = {
    name,
    id,
    type: 'function',
    input: () => begun?.input?.(),
    output: () => told.spokenWords({ content }),
  } as const;
  const failed = isError ? (inDoubt === true ? 'in_doubt' : 'tool_error') : undefined;
  const attributes = { ...told.toolAttributes(fold.wording, tool), ...present({ 'error.type': failed }) };
  return finish(fold, key, event, { kind: 'internal', failed: isError, attributes, durationMs });
}

const executorCall = ({ run_id, payload }: EventOf<'executor.call'> | EventOf<'executor.result'>): string =>
  `${run_id} executor ${payload.id}`;

/** It hangs below the turn that the executor works in. Its title is words: a command, the name of a file. */
function beginExecutorCall(fold: SpanFold, event: EventOf<'executor.call'>): readonly FinishedSpan[] {
  const { kind = 'other', title } = event.payload;
  const turn = fold.begun.get(stepOf(event));
  const given = fold.wording.content ? () => title : undefined;
  const attributes = { 'troupe.executor.kind': kind };
  const parentSpanId = turn === undefined ? undefined : spanOfEvent(turn.event);
  const name = `${fold.wording.names.operation.tool} ${kind}`;
  return begin(fold, executorCall(event), event, { name, attributes, ...present({ parentSpanId, input: given }) });
}

function endExecutorCall(fold: SpanFold, event: EventOf<'executor.result'>): readonly FinishedSpan[] {
  const { id, status, output } = event.payload;
  const begun = fold.begun.get(executorCall(event));
  const name = String(begun?.attributes['troupe.executor.kind'] ?? 'other');
  const failed = status === 'failed';
  const tool = { name, id, type: 'extension', input: () => begun?.input?.(), output: () => output } as const;
  const wrong = failed ? 'tool_error' : undefined;
  const attributes = { ...told.toolAttributes(fold.wording, tool), ...present({ 'error.type': wrong }) };
  return finish(fold, executorCall(event), event, { kind: 'internal', failed, attributes });
}

const waitOf = ({ payload: { wait } }: EventOf<'approval.asked'> | EventOf<'approval.answered'>): string => `wait ${wait}`;

function beginWait(fold: SpanFold, event: EventOf<'approval.asked'>): readonly FinishedSpan[] {
  return begin(fold, waitOf(event), event, { name: 'troupe.wait', attributes: { 'troupe.wait.tool': event.payload.tool } });
}

function endWait(fold: SpanFold, event: EventOf<'approval.answered'>): readonly FinishedSpan[] {
  const attributes = { 'troupe.wait.answer': event.payload.answer.kind };
  return finish(fold, waitOf(event), event, { kind: 'internal', failed: false, attributes });
}

type Beginning = Pick<Begun, 'name' | 'attributes'> & Partial<Pick<Begun, 'input' | 'parentSpanId'>>;

function begin({ runs, begun }: SpanFold, key: string, event: LedgerEvent, beginning: Beginning): readonly FinishedSpan[] {
  // What was begun under the same key and is begun again has one beginning: the call is the same one.
  if (begun.has(key)) return NONE;
  const { name, attributes, input, parentSpanId = runs.get(event.run_id)?.spanId } = beginning;
  begun.set(key, { event: event.event_id, startMs: at(event), parentSpanId, attributes, events: [], input, name });
  return NONE;
}

interface Finish {
  readonly kind: FinishedSpan['kind'];
  readonly failed: boolean;
  readonly attributes: Attributes;
  readonly name?: string;
  /** How long it took by the clock that never jumps; what came before, a crash say, is not part of it. */
  readonly durationMs?: number;
}

function finish(fold: SpanFold, key: string, event: LedgerEvent, finished: Finish): readonly FinishedSpan[] {
  const begun = fold.begun.get(key);
  if (begun === undefined) return [];
  fold.begun.delete(key);
  const { kind, failed, name = begun.name, durationMs } = finished;
  const startMs = durationMs === undefined ? begun.startMs : Math.max(begun.startMs, Math.round(at(event) - durationMs));
  const { parentSpanId, events } = begun;
  const attributes = { ...begun.attributes, ...finished.attributes };
  const spanId = spanOfEvent(begun.event);
  return [spanOf(fold, event, { spanId, parentSpanId, startMs, after: undefined, name, kind, failed, attributes, events })];
}

type Known = Omit<FinishedSpan, 'traceId' | 'endMs' | 'events'> & Partial<Pick<FinishedSpan, 'events'>>;

function spanOf({ runs, wording }: SpanFold, event: LedgerEvent, { attributes, events = [], ...known }: Known): FinishedSpan {
  const run = runs.get(event.run_id);
  return {
    ...known,
    traceId: run?.traceId ?? traceOf(event.session_id, event.run_id),
    // Clocks jump; a span never ends before it began.
    endMs: Math.max(known.startMs, at(event)),
    attributes: { ...told.commonAttributes(wording, run?.agent ?? 'unknown', event), ...attributes },
    events,
  };
}
