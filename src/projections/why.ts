/**
 * Why something happened: from any event back, cause by cause, to the prompt that started it. Every event but the first of
 * a session names its cause, so the walk always ends. It crosses agents: a run begins because of an event of its parent, and
 * the parent goes on because the run ended.
 *
 * An event has one cause but may rest on more: a turn on several results and broadcasts, a decision on several advisors.
 * These stand beside the walk, each a place where another one could start. Beside a call stands who approved what. A run that
 * waits has no result yet: why it stands still is what is asked in it or below it.
 */

import type { EventId, RunId } from '../base/ids.ts';
import type { EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import { isBroadcast } from './patterns/broadcast-text.ts';
import { standsBesideOthers } from './patterns/pattern-lines.ts';
import { type TimelineLine, timelineLine } from './timeline.ts';
import { waitKey } from './waits.ts';

export interface CauseLine extends TimelineLine {
  readonly event: EventId;
  readonly type: EventType;
  readonly parent: EventId | null;
  /** What else it rests on. */
  readonly also: readonly EventId[];
}

export interface Causes {
  readonly agents: Map<RunId, string>;
  readonly events: Map<EventId, CauseLine>;
  /** Where each run's result is. */
  readonly results: Map<RunId, EventId>;
  /** The newest event of each run: where a run stands that has no result yet. */
  readonly newest: Map<RunId, EventId>;
  /** What a later request can refer to, by run and step. */
  readonly outcomes: Map<string, EventId>;
  /** Of calls that somebody approved: the question and the answer, by run and step of the call. */
  readonly approvals: Map<string, readonly EventId[]>;
  /** What stands side by side in each run, before it goes on from all of it. */
  readonly beside: Map<RunId, readonly EventId[]>;
  /** Below which run each one stands. */
  readonly parents: Map<RunId, RunId>;
  /** What is asked and not answered yet, in the order in which it was asked. */
  readonly open: Map<string, { readonly run: RunId; readonly event: EventId }>;
}

export const initialCauses = (): Causes => ({
  agents: new Map(),
  events: new Map(),
  results: new Map(),
  newest: new Map(),
  outcomes: new Map(),
  approvals: new Map(),
  beside: new Map(),
  parents: new Map(),
  open: new Map(),
});

/** Updates and returns the accumulator it was given. */
export function foldCauses(causes: Causes, event: LedgerEvent): Causes {
  const line = timelineLine(causes.agents, event);
  causes.events.set(event.event_id, {
    ...line,
    event: event.event_id,
    type: event.event_type,
    parent: event.parent_event_id,
    also: restsOn(causes, event),
  });
  if (event.event_type === 'run.ended') causes.results.set(event.run_id, event.event_id);
  if (event.event_type === 'tool.result' || isBroadcast(event) || isOfPerson(event))
    causes.outcomes.set(outcomeKey(event.run_id, event.step ?? ''), event.event_id);
  if (event.event_type === 'approval.answered' && event.payload.answer.kind === 'approved')
    causes.approvals.set(
      outcomeKey(event.run_id, event.payload.wait.replace(APPROVAL, '')),
      [event.parent_event_id, event.event_id].filter((id) => id !== null),
    );
  if (standsBesideOthers(event)) causes.beside.set(event.run_id, [...(causes.beside.get(event.run_id) ?? []), event.event_id]);
  causes.newest.set(event.run_id, event.event_id);
  noteStanding(causes, event);
  return causes;
}

/** What a run that has no result is asked about: who stands below whom, and what is open. */
function noteStanding({ results, parents, open }: Causes, event: LedgerEvent): void {
  const { run_id: run } = event;
  switch (event.event_type) {
    case 'run.started': {
      const parent = parentRun(event.payload) as RunId | undefined;
      if (parent !== undefined) parents.set(run, parent);
      return;
    }
    // It goes on: how it ended before is not how it stands.
    case 'run.reopened':
      results.delete(run);
      return;
    case 'approval.asked':
    case 'task.clarify':
      open.set(waitKey(run, event.payload.wait), { run, event: event.event_id });
      return;
    case 'approval.answered':
      open.delete(waitKey(run, event.payload.wait));
      return;
    case 'run.ended':
      for (const [key, wait] of open) if (wait.run === run) open.delete(key);
      return;
    default:
  }
}

const isOfPerson = (event: LedgerEvent): boolean => event.event_type === 'message.sent' && event.payload.person !== undefined;

/** A question about a call has the step of the call and this behind it; of several the last counts. */
const APPROVAL = /\/approval(\/\d+)?$/;

const outcomeKey = (run: string, step: string): string => `${run} ${step}`;

function restsOn({ outcomes, approvals, beside }: Causes, event: LedgerEvent): readonly EventId[] {
  if (event.event_type === 'tool.call') return approvals.get(outcomeKey(event.run_id, event.step ?? '')) ?? [];
  if (standsBesideOthers(event)) return beside.get(event.run_id) ?? [];
  if (event.event_type !== 'model.request') return [];
  return event.payload.added.flatMap((item) => {
    const outcome = 'step' in item ? outcomes.get(outcomeKey(item.run ?? event.run_id, item.step)) : undefined;
    return outcome === undefined || outcome === event.parent_event_id ? [] : [outcome];
  });
}

/** The event a run is judged by: its result, or what is asked in it or below it, or the last thing that happened in it. */
export function resultEvent(causes: Causes, run: RunId): EventId | undefined {
  return causes.results.get(run) ?? openQuestions(causes, run)[0] ?? causes.newest.get(run);
}

/** What a run waits for that has no result yet, the oldest first. */
export function openQuestions({ results, open, parents }: Causes, run: RunId): readonly EventId[] {
  if (results.has(run)) return [];
  return [...open.values()].flatMap((wait) => (isWithin(parents, wait.run, run) ? [wait.event] : []));
}

function isWithin(parents: Causes['parents'], run: RunId, root: RunId): boolean {
  const seen = new Set<RunId>();
  for (let up: RunId | undefined = run; up !== undefined && !seen.has(up); up = parents.get(up)) {
    if (up === root) return true;
    seen.add(up);
  }
  return false;
}

/** From the event back to the first cause. Empty when the event is not there. */
export function whyOf(causes: Causes, event: EventId): readonly CauseLine[] {
  const chain: CauseLine[] = [];
  const seen = new Set<EventId>();
  for (let next: EventId | null = event; next !== null && !seen.has(next); ) {
    const cause = causes.events.get(next);
    if (cause === undefined) break;
    seen.add(next);
    chain.push(cause);
    next = cause.parent;
  }
  return chain;
}
