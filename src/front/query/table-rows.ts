/** From events, in the order of their session, to the rows of the tables. Rows of what has no outcome yet come at the end. */
import type { EventType } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';
import { spendingIn } from '../../projections/costs.ts';
import type { AnyRow, RowOf, TableCell, TableName } from './tables.ts';

/** The types of events that each table is made of; `run.started` says whose run it is. */
export const typesOf: Readonly<Record<Exclude<TableName, 'sessions' | 'runs'>, readonly EventType[] | 'all'>> = {
  events: 'all',
  turns: ['model.response'],
  calls: ['model.response', 'model.request', 'tool.call', 'tool.result', 'run.ended', 'run.reopened'],
  costs: ['model.request', 'model.response', 'model.failed', 'peer.state', 'peer.cancelled'],
  failures: ['model.failed'],
  waits: ['approval.asked', 'task.clarify', 'approval.answered'],
  files: ['file.diff'],
};

const NANO_PER_USD = 1_000_000_000;
const MS_PER_SECOND = 1_000;
const DAY_CHARACTERS = 10;

export interface RowMaker {
  of(event: LedgerEvent): readonly AnyRow[];
  /** What is still open when there are no more events of the session. */
  rest(): readonly AnyRow[];
}

type Call = RowOf<'calls'>;
type Wait = RowOf<'waits'>;

interface Known {
  readonly agents: Map<string, string>;
  readonly asked: Map<string, string>;
  /** Calls and questions without an outcome so far, by run and step or name. */
  readonly calls: Map<string, Call>;
  readonly waits: Map<string, Wait>;
  /** Where each run ended. */
  readonly ends: Map<string, string>;
}

/** Only rows of the tables that are needed; the payloads of events only where somebody reads them. */
export function createRowMaker(needed: ReadonlySet<TableName>, payloads: boolean): RowMaker {
  const known: Known = { agents: new Map(), asked: new Map(), calls: new Map(), waits: new Map(), ends: new Map() };
  return {
    of: (event) => {
      if (event.event_type === 'run.started') known.agents.set(event.run_id, event.payload.agent);
      const own = needed.has('events') ? [{ table: 'events', row: eventRow(event, payloads) } as const] : [];
      const rows = [...own, ...[...costRows(known, event), ...otherRows(known, event)].filter(({ table }) => needed.has(table))];
      if (event.event_type === 'model.request') known.asked.set(event.run_id, event.payload.model);
      if (event.event_type === 'run.ended') known.ends.set(event.run_id, event.event_id);
      if (event.event_type === 'run.reopened') known.ends.delete(event.run_id);
      return rows;
    },
    rest: () => [
      ...(needed.has('calls')
        ? [...known.calls.values()].map((row) => ({ table: 'calls', row: withoutResult(known, row) }) as const)
        : []),
      ...(needed.has('waits') ? [...known.waits.values()].map((row) => ({ table: 'waits', row }) as const) : []),
    ],
  };
}

/** Of a run that has ended nothing more comes: it ended with the call, as with a report, or before there was a result. */
function withoutResult({ ends }: Known, row: Call): Call {
  const end = ends.get(String(row.run));
  return { ...row, outcome: end === undefined ? 'open' : 'ended', event: end ?? null };
}

function eventRow(event: LedgerEvent, payloads: boolean): RowOf<'events'> {
  const { event_id, session_id: session, position, run_id: run, parent_event_id: parent, actor, tool, step } = event;
  const payload = payloads ? JSON.stringify(event.payload) : null;
  const place = { event: event_id, session, position, run, parent, at: event.timestamp };
  return { ...place, actor, type: event.event_type, tool, step, payload };
}

const whose = ({ agents }: Known, { session_id: session, run_id: run }: LedgerEvent) => ({
  ...{ session, run, agent: agents.get(run) ?? null },
});

const usd = (cost: { readonly nanoUsd: number } | undefined): TableCell =>
  cost === undefined ? null : cost.nanoUsd / NANO_PER_USD;
const seconds = (milliseconds: number): number => milliseconds / MS_PER_SECOND;

function costRows(known: Known, event: LedgerEvent): readonly AnyRow[] {
  const spent = spendingIn(event);
  if (spent === undefined) return [];
  const isAnswer = event.event_type === 'model.response';
  const row: RowOf<'costs'> = {
    ...whose(known, event),
    model: isAnswer ? event.payload.served : (known.asked.get(event.run_id) ?? null),
    ...{ at: event.timestamp, day: event.timestamp.slice(0, DAY_CHARACTERS) },
    ...{ input_tokens: spent.inputTokens, output_tokens: spent.outputTokens, cached_tokens: spent.cacheReadTokens },
    usd: spent.unknownCalls > 0 ? null : spent.nanoUsd / NANO_PER_USD,
    answered: isAnswer ? 1 : 0,
    event: event.event_id,
  };
  return [{ table: 'costs', row }];
}

function otherRows(known: Known, event: LedgerEvent): readonly AnyRow[] {
  switch (event.event_type) {
    case 'model.response':
      noteCalls(known, event);
      return [{ table: 'turns', row: turnRow(known, event) }];
    case 'model.request':
      return turnedAway(known, event);
    case 'model.failed':
      return [{ table: 'failures', row: failureRow(known, event) }];
    case 'tool.call':
    case 'tool.result':
      return callRows(known, event);
    case 'approval.asked':
    case 'task.clarify':
      known.waits.set(`${event.run_id} ${event.payload.wait}`, waitRow(known, event));
      return [];
    case 'approval.answered':
      return answeredRows(known, event);
    case 'file.diff':
      return [{ table: 'files', row: fileRow(known, event) }];
    default:
      return [];
  }
}

function turnRow(known: Known, event: EventOf<'model.response'>): RowOf<'turns'> {
  const { turn, served, finish, attempts, usage, cost, durationMs, message } = event.payload;
  return {
    ...whose(known, event),
    ...{ turn, at: event.timestamp, model: served, finish, attempts },
    input_tokens: usage.inputTokens ?? null,
    output_tokens: usage.outputTokens ?? null,
    cached_tokens: usage.cacheReadTokens ?? null,
    ...{ usd: usd(cost), seconds: seconds(durationMs), text: textOf(message.content), event: event.event_id },
  };
}

function failureRow(known: Known, event: EventOf<'model.failed'>): RowOf<'failures'> {
  const { turn, model, attempt, error, final } = event.payload;
  return {
    ...{ ...whose(known, event), turn, at: event.timestamp, model, attempt, kind: error.kind, message: error.message },
    ...{ final: final ? 1 : 0, event: event.event_id },
  };
}

/** What a model asked for is open until there is a result. */
function noteCalls(known: Known, event: EventOf<'model.response'>): void {
  const { turn, message } = event.payload;
  for (const [index, { name, input, malformed }] of toolCallsOf(message).entries()) {
    const step = `turn/${turn}/tool/${index}`;
    const given = malformed ?? JSON.stringify(input);
    known.calls.set(`${event.run_id} ${step}`, {
      ...{ ...whose(known, event), turn, at: event.timestamp, tool: name, outcome: 'open', seconds: null },
      ...{ input: given, result: null, step, event: null },
    });
  }
}

/** Of calls that nobody made, because there was no such tool say, the next request is the answer. */
function turnedAway(known: Known, event: EventOf<'model.request'>): readonly AnyRow[] {
  const answers = event.payload.added.flatMap((one) =>
    'message' in one && one.message.role === 'tool' ? one.message.content : [],
  );
  if (answers.length === 0) return [];
  const open = [...known.calls].filter(([, { run }]) => run === event.run_id);
  return answers.flatMap(({ name, content, turnedAway: away }) => {
    const index = away === true ? open.findIndex(([, { tool }]) => tool === name) : -1;
    const [found] = index < 0 ? [] : open.splice(index, 1);
    if (found === undefined) return [];
    const [key, row] = found;
    known.calls.delete(key);
    const told = { outcome: 'refused', seconds: 0, result: textOf(content), event: event.event_id };
    return [{ table: 'calls', row: { ...row, ...told } } as const];
  });
}

function callRows(known: Known, event: EventOf<'tool.call'> | EventOf<'tool.result'>): readonly AnyRow[] {
  const key = `${event.run_id} ${event.step}`;
  const before = known.calls.get(key) ?? {
    ...{ ...whose(known, event), turn: null, at: event.timestamp, tool: event.payload.name, outcome: 'open', seconds: null },
    ...{ input: null, result: null, step: event.step, event: null },
  };
  if (event.event_type === 'tool.call') {
    const { input, turn } = event.payload;
    const changed = input === undefined ? {} : { input: JSON.stringify(input) };
    known.calls.set(key, { ...before, ...changed, turn, at: event.timestamp, outcome: 'made' });
    return [];
  }
  known.calls.delete(key);
  const { durationMs, content } = event.payload;
  const told = { outcome: outcomeOf(event, before.outcome === 'made'), seconds: seconds(durationMs), result: textOf(content) };
  return [{ table: 'calls', row: { ...before, ...told, event: event.event_id } }];
}

/** An error of what was never begun is a refusal; a question that was answered was never begun either, and is no error. */
function outcomeOf({ payload }: EventOf<'tool.result'>, made: boolean): string {
  if (payload.inDoubt === true) return 'in_doubt';
  if (payload.isError !== true) return 'ok';
  return made ? 'error' : 'refused';
}

function waitRow(known: Known, event: EventOf<'approval.asked'> | EventOf<'task.clarify'>): Wait {
  const isPermission = event.event_type === 'approval.asked';
  return {
    ...{ ...whose(known, event), wait: event.payload.wait, kind: isPermission ? 'permission' : 'question' },
    tool: isPermission ? event.payload.tool : null,
    question: isPermission ? event.payload.why : event.payload.question,
    ...{
      asked_at: event.timestamp,
      answered_at: null,
      answer: null,
      by: null,
      place: null,
      seconds: null,
      event: event.event_id,
    },
  };
}

function answeredRows(known: Known, event: EventOf<'approval.answered'>): readonly AnyRow[] {
  const { wait, answer, by = null, where = null } = event.payload;
  const key = `${event.run_id} ${wait}`;
  const asked = known.waits.get(key);
  if (asked === undefined) return [];
  known.waits.delete(key);
  const waited = Date.parse(event.timestamp) - Date.parse(String(asked.asked_at));
  const said = answer.kind === 'text' ? answer.text : answer.kind;
  const told = { answered_at: event.timestamp, answer: said, by, place: where, seconds: seconds(waited) };
  return [{ table: 'waits', row: { ...asked, ...told } }];
}

function fileRow(known: Known, event: EventOf<'file.diff'>): RowOf<'files'> {
  const { path, before, after, addedLines, removedLines, by } = event.payload;
  return {
    ...{ ...whose(known, event), path, at: event.timestamp, source: by ?? 'tool', added: addedLines, removed: removedLines },
    ...{ before, after, step: event.step, event: event.event_id },
  };
}
