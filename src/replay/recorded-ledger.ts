/**
 * A record as a ledger that an engine drives a run on. It shows what was recorded, but for what the run is to come to by itself
 * once more: ends, and the answers of sub-agents. Nothing is ever written anywhere: what is appended is told, and shown from then
 * on.
 */
import { TroupeError } from '../base/errors.ts';
import { type EventId, eventId, type PayloadRef, type RunId } from '../base/ids.ts';
import { DISMISS_AGENT } from '../engine/calls/agent-tools.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import type { RunRecord } from './record.ts';
import { createShownEvents } from './shown-events.ts';
import { isCancel } from './stops.ts';

export interface RecordedLedger extends Ledger {
  /** Something that was hidden comes now, from outside. */
  come(event: LedgerEvent): void;
  /** How often it was asked for something: who waits for a run to come to its end sees that it still does something. */
  uses(): number;
}

/** `told`: what the run has come to now; gives the event of the record that it stands for. */
export function recordedLedger(
  record: RunRecord,
  payload: (ref: PayloadRef) => Promise<Uint8Array | undefined>,
  told: (event: NewEvent) => LedgerEvent | undefined,
): RecordedLedger {
  const { root, tree } = record;
  const hidden = hiddenIn(record);
  const shown = createShownEvents(record.events.filter(({ position }) => !hidden.has(position)).map(fromItsStart));
  const ended = new Map(record.rows.map((row) => [row.run, tree.has(row.run) ? null : row.endedAt]));
  const byRun = new Map(record.rows.map((row) => [row.run, row]));
  let newest = record.events.at(-1)?.position ?? 0;
  let uses = 0;
  const listeners = new Set<() => void>();

  const stored = (event: NewEvent): LedgerEvent => {
    const known = told(event);
    if (known === undefined) newest += 1;
    const made = known ?? madeUp(root, event, newest);
    shown.add(made);
    if (made.event_type === 'run.ended') ended.set(made.run_id, Date.parse(made.timestamp));
    return made;
  };
  const asItStands = (row: RunRow): RunRow =>
    tree.has(row.run) ? { ...row, endedAt: ended.get(row.run) ?? null, state: 'running', owner: null } : row;
  return {
    uses: () => uses,
    come(event) {
      newest += 1;
      shown.add({ ...event, position: newest, event_id: eventId(root.session, newest) });
      for (const listener of listeners) listener();
    },
    async append({ events: added }) {
      uses += 1;
      return { kind: 'appended', events: added.map(stored) };
    },
    async read(query) {
      uses += 1;
      return shown.read(query, query.root === root.run ? tree : undefined);
    },
    async runs({ run, session, roots, agent, states, limit }) {
      uses += 1;
      const rows = run === undefined ? record.rows : [byRun.get(run) ?? []].flat();
      const found = rows
        .map(asItStands)
        .filter(
          (row) =>
            (session === undefined || row.session === session) &&
            (roots !== true || row.parent === null) &&
            (agent === undefined || row.agent === agent) &&
            (states === undefined || states.includes(row.state)),
        );
      return found.slice(0, limit);
    },
    lastInbound: async () => shown.lastInbound(),
    payload,
    held: async (refs) => new Set(refs),
    counter: async () => 0,
    acquire: async (_session, run) => ({ kind: 'acquired', fence: { run, epoch: 1 }, takenOver: false }),
    release: async () => undefined,
    onNews: () => () => undefined,
    onInbound(_session, callback) {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
    close: async () => undefined,
    feed: never,
    tail: never,
    stats: never,
    verify: never,
    rebuild: never,
    pin: never,
    gc: never,
    ...{ hold: never, unhold: never, holds: never, standings: never, forget: never },
    // Where anything was, there is no replay.
    hasForgotten: async () => false,
  };
}

/** Calls that end something: what they say is found out by doing it. */
const DONE_AGAIN: ReadonlySet<string> = new Set(['cancel_assistant', DISMISS_AGENT]);

function never(): never {
  throw new TroupeError('bug', 'No run asks this of the ledger that it is played again on.');
}

/** How the runs of the tree ended, what those said that were called like tools, and what stopped them: it comes about again. */
function hiddenIn({ standing }: RunRecord): ReadonlySet<number> {
  const calls = new Map(
    standing.flatMap((event) => (event.event_type === 'tool.call' ? [[event.event_id, event] as const] : [])),
  );
  const agents = new Set(
    standing.flatMap((event) => {
      const call = event.event_type === 'run.started' ? calls.get(event.parent_event_id ?? ('' as EventId)) : undefined;
      return call === undefined ? [] : [`${call.run_id} ${call.step}`];
    }),
  );
  const isToCome = (event: LedgerEvent): boolean => {
    if (event.event_type !== 'tool.result') return event.event_type === 'run.ended' || isCancel(event);
    return agents.has(`${event.run_id} ${event.step}`) || DONE_AGAIN.has(event.payload.name);
  };
  return new Set(standing.filter(isToCome).map(({ position }) => position));
}

/** A conversation that was condensed is gone through from its start, not from where it was condensed. */
function fromItsStart(event: LedgerEvent): LedgerEvent {
  if (event.event_type !== 'task.summary') return event;
  const { cut: _cut, ...payload } = event.payload;
  return { ...event, payload: { ...payload, goesOn: false } };
}

function madeUp({ session }: RunRow, event: NewEvent, position: number): LedgerEvent {
  const { type, run, actor, payload, step = null, tool = null, at } = event;
  return {
    ...{ event_id: eventId(session, position), parent_event_id: null, session_id: session, run_id: run as RunId, position },
    ...{ timestamp: new Date(at).toISOString(), actor, tool, event_type: type, payload, step },
    ...{ payload_ref: '' as PayloadRef, attachment_ref: null, schema_version: 1 },
    // A payload belongs to its type, in a new event as in a stored one.
  } as unknown as LedgerEvent;
}
