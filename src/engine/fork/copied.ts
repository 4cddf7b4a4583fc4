/**
 * The events of a session as those of another: the same positions, so that what names a position still does; other ids of
 * sessions, runs, threads and messages, wherever they stand; and nothing that would be counted, charged or told twice.
 */
import { countersOfStored } from '../../artifacts/put.ts';
import { eventId, forkedRunId, type RunId, type SessionId } from '../../base/ids.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { ForkSource } from '../../events/going-on.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { CounterChange, Ledger, NewEvent } from '../../ledger/port.ts';
import { packageRef } from '../../patterns/package-ref.ts';
import { noSpending } from '../../projections/costs.ts';

export interface ForkIds {
  readonly session: SessionId;
  /** The run that stands there for this one. */
  run(of: string): RunId;
  /** The words that stand there for these ids, wherever in a text. */
  words(text: string): string;
  /** The id of a run where it all began. */
  first(of: string): string;
}

/** Longer words of letters and digits are no ids, shorter ones may be anybody's. */
const WORD = /[0-9a-z]{12,64}/g;
const lastOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);
const tailOf = (id: string): string => id.slice(id.indexOf('_') + 1);

/** For the runs and messages among these events. */
export function forkIds(session: SessionId, events: readonly LedgerEvent[]): ForkIds {
  const firsts = new Map<string, string>();
  const tails = new Map<string, string>();
  const source = events[0]?.session_id;
  if (source !== undefined) tails.set(tailOf(source), tailOf(session));
  const run = (of: string): RunId => forkedRunId(session, firsts.get(of) ?? of);
  for (const event of events) {
    const { run_id } = event;
    if (event.event_type === 'run.started') firsts.set(run_id, event.payload.forked?.of ?? run_id);
    tails.set(tailOf(run_id), tailOf(run(run_id)));
  }
  const words = (text: string): string => text.replaceAll(WORD, (word) => tails.get(word) ?? word);
  // Those that are named after a run change with it; a word of its own is read once in each session.
  for (const event of events)
    if (event.event_type === 'message.sent' && new RegExp(`^${WORD.source}$`).test(event.payload.message))
      tails.set(event.payload.message, tailOf(forkedRunId(session, event.payload.message)));
  // A package is referred to by what it says, and it names its session.
  for (const { payload } of events.filter((event) => event.event_type === 'task.package'))
    tails.set(lastOf(payload.ref), lastOf(packageRef(words(payload.yaml))));
  return { session, run, words, first: (of) => firsts.get(of) ?? of };
}

/** What stands in the place of what was there. */
export interface Instead {
  readonly workspace?: string | undefined;
  /** When the fork began, for whoever lists what began last. */
  readonly began: { readonly run: RunId; readonly at: number };
  /** The request of this run. */
  readonly input?: { readonly run: RunId; readonly message: Payloads['run.started']['input'] } | undefined;
}

export async function copiedEvents(
  ledger: Ledger,
  events: readonly LedgerEvent[],
  ids: ForkIds,
  from: ForkSource,
  instead: Instead,
): Promise<readonly NewEvent[]> {
  const copied: NewEvent[] = [];
  for (const event of events) {
    const { run_id, actor, tool, step, timestamp, parent_event_id: parent, attachment_ref } = event;
    const attachment = attachment_ref === null ? undefined : await ledger.payload(attachment_ref);
    const cause = parent === null ? null : eventId(ids.session, Number(parent.slice(parent.lastIndexOf('.') + 1)));
    copied.push({
      ...typed(changed(withIds(event, ids), ids, from, instead)),
      ...{ run: ids.run(run_id), actor, cause, at: isBeginning(event, instead) ? instead.began.at : Date.parse(timestamp) },
      ...{ tool: tool ?? undefined, step: step === null ? undefined : ids.words(step), attachment },
    } as NewEvent);
  }
  return copied;
}

const isBeginning = ({ event_type, run_id }: LedgerEvent, { began }: Instead): boolean =>
  event_type === 'run.started' && run_id === began.run;

type Typed = Pick<LedgerEvent, 'event_type' | 'payload'>;
const typed = ({ event_type, payload }: Typed) => ({ type: event_type, payload });

function withIds(event: LedgerEvent, ids: ForkIds): LedgerEvent {
  const text = JSON.stringify(event.payload);
  const words = ids.words(text);
  if (words === text) return event;
  const payload = parseJson(words);
  return payload.ok ? ({ ...event, payload: payload.value } as unknown as LedgerEvent) : event;
}

/** Budgets, prices and webhooks are those of the session where it happened. */
function changed(event: LedgerEvent, ids: ForkIds, from: ForkSource, instead: Instead): Typed {
  const { event_type } = event;
  switch (event_type) {
    case 'session.started':
      return { event_type, payload: { ...event.payload, workspace: instead.workspace ?? event.payload.workspace, forked: from } };
    case 'run.started':
      return { event_type, payload: startedThere(event.payload, event.run_id, ids, instead) };
    case 'run.reopened': {
      const { forked: _forked, ...payload } = event.payload;
      return { event_type, payload };
    }
    case 'model.response':
    case 'model.failed':
    case 'peer.state':
    case 'peer.cancelled':
      return { event_type, payload: { ...event.payload, forked: true } } as Typed;
    case 'budget.reserved':
      return { event_type, payload: { scopes: [], amounts: NOTHING } };
    case 'budget.settled':
      return { event_type, payload: { scopes: [], reserved: NOTHING, spent: NOTHING } };
    case 'task.summary':
      return { event_type, payload: summaryThere(event.payload) };
    case 'push.configured':
      return { event_type: 'push.removed', payload: { config: event.payload.config } };
    default:
      return event;
  }
}

const NOTHING = { calls: 0, tokens: 0 };

function startedThere(started: Payloads['run.started'], run: string, ids: ForkIds, instead: Instead): Payloads['run.started'] {
  const { origin } = started;
  const input = instead.input?.run === run ? instead.input.message : started.input;
  // A peer that says it again means the task that it began.
  const { a2a: _a2a, ...rest } = origin.kind === 'client' ? origin : { ...origin, a2a: undefined };
  // The place of a task is its own, and goes by the name of the session.
  const isApart = taskTermsOf(started)?.place.kind === 'worktree';
  const workspace = instead.workspace === undefined || isApart ? started.workspace : undefined;
  const { workspace: _workspace, ...other } = started;
  return {
    ...{ ...other, input, origin: rest as typeof origin, forked: { of: ids.first(run), in: ids.session } },
    ...present({ workspace }),
  };
}

function summaryThere(payload: Payloads['task.summary']): Payloads['task.summary'] {
  const { cut } = payload;
  if (cut === undefined) return payload;
  const { done } = cut;
  const free = done && { own: { ...done.own, spent: noSpending() }, below: { ...done.below, spent: noSpending() } };
  return { ...payload, cut: { ...cut, activeMs: 0, ...present({ done: free }) } };
}

/** A message is sent once and read once, and a name of an artifact is given once, in each session. */
export function copiedCounters(session: SessionId, events: readonly NewEvent[]): readonly CounterChange[] {
  const sums = new Map<string, number>();
  for (const { name, add } of countersOf(session, events)) sums.set(name, (sums.get(name) ?? 0) + add);
  return [...sums].map(([name, add]) => ({ name, add }));
}

function countersOf(session: SessionId, events: readonly NewEvent[]): readonly CounterChange[] {
  return events.flatMap((event): readonly CounterChange[] => {
    const stored = countersOfStored(session, event);
    if (stored.length > 0) return stored;
    if (event.type !== 'message.sent' && event.type !== 'message.read') return [];
    const message = isJsonObject(event.payload) ? event.payload['message'] : undefined;
    return [{ name: `${event.type === 'message.sent' ? 'message' : 'read'}/${String(message)}`, add: 1 }];
  });
}
