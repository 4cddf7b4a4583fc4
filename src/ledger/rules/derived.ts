/**
 * What follows from the events of a ledger, and how it differs from what the tables beside them say: the index of runs, the
 * marks of sessions, the counters. They are kept in step with the events in the same transaction, and everything that decides
 * whether somebody may spend, write or go on looks at them; so verify compares them, and rebuild sets them right.
 *
 * Left out, because no event says it: who holds a lease and for how long, which sessions are pinned, how far one was collected.
 * What follows from a payload that was collected cannot be compared any more, and is left as it is.
 */

import { type EventId, eventId, type RunId, type SessionId } from '../../base/ids.ts';
import { type EventType, inboundTypes, type Payloads } from '../../events/catalogue.ts';
import type { ChainedFields } from '../../events/envelope.ts';
import { parentRun, roleInTree } from '../../events/run-origin.ts';
import type { DriftedRow } from '../port.ts';

/** A run as the index of runs has it. */
export interface IndexedRun {
  readonly run: RunId;
  readonly root: RunId | null;
  readonly parent: RunId | null;
  readonly first: number;
  readonly agent: string | null;
  readonly role: string | null;
  readonly state: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface IndexedSession {
  readonly session: SessionId;
  readonly sealed: number;
  readonly inbound: number;
  /** Only where a store keeps it beside the events. */
  readonly head?: number;
  /** Its events in the order of all: how many there are, and how many of them do not stand where they should. */
  readonly feed?: { readonly entries: number; readonly astray: number };
}

type Value = string | number | null;

/** `undefined`: it followed from a payload that is gone. */
type Expected = { -readonly [Column in keyof Omit<IndexedRun, 'run'>]: Value | undefined } & {
  /** The event that the state follows from. */
  by: number;
};

export interface Derivation {
  /** `payload` is `undefined` when it was collected. */
  apply(fields: ChainedFields, payload: unknown): void;
  /** Compares when all events of the session were applied. */
  drifts(session: IndexedSession, runs: readonly IndexedRun[]): readonly DriftedRow[];
  /** What the tables should say; what followed from a payload that is gone is `null`. */
  rows(): { readonly sealed: number; readonly inbound: number; readonly runs: readonly IndexedRun[] };
}

const INBOUND: ReadonlySet<string> = new Set(inboundTypes);
const COLUMNS = ['root', 'parent', 'first', 'agent', 'role', 'state', 'startedAt', 'endedAt'] as const;

export function deriveSession(session: SessionId, counters: Pick<DerivedCounters, 'apply'>): Derivation {
  const runs = new Map<RunId, Expected>();
  const marks = { sealed: 1, inbound: 0, head: 0 };
  return {
    apply(fields, payload) {
      const { position, run, type } = fields;
      const known = runs.get(run) ?? { ...UNSTARTED, root: run, first: position, by: position };
      runs.set(run, known);
      changeRun(known, fields, payload, (parent) => runs.get(parent as RunId)?.root ?? undefined);
      marks.head = position;
      if (INBOUND.has(type)) marks.inbound = position;
      if (type === 'run.ended') marks.sealed = position;
      counters.apply(fields, payload);
    },
    drifts(found, indexed) {
      const wrong: DriftedRow[] = [];
      for (const column of ['sealed', 'inbound', 'head'] as const) {
        const [there = marks[column], expected] = [found[column], marks[column]];
        const event = expected === 0 ? null : eventId(session, expected);
        if (there !== expected) wrong.push({ table: 'session', name: session, column, found: there, expected, event });
      }
      wrong.push(...feedDrifts(found, marks.head));
      for (const row of indexed) {
        const expected = runs.get(row.run);
        if (expected !== undefined) wrong.push(...runDrifts(session, row, expected));
        else wrong.push({ table: 'run', name: row.run, column: 'name', found: row.run, expected: null, event: null });
      }
      const known = new Set(indexed.map(({ run }) => run));
      for (const [run, { by }] of runs) {
        if (known.has(run)) continue;
        // Its row is under another session, or under none that there is.
        wrong.push({ table: 'run', name: run, column: 'session', found: null, expected: session, event: eventId(session, by) });
      }
      return wrong;
    },
    rows: () => ({ sealed: marks.sealed, inbound: marks.inbound, runs: [...runs].map(([run, row]) => ({ run, ...known(row) })) }),
  };
}

function known({ by: _, ...row }: Expected): Omit<IndexedRun, 'run'> {
  const columns = Object.entries(row).map(([column, value]) => [column, value ?? null] as const);
  return Object.fromEntries(columns) as Omit<IndexedRun, 'run'>;
}

function feedDrifts({ session, feed }: IndexedSession, head: number): DriftedRow[] {
  if (feed === undefined) return [];
  const { entries, astray } = feed;
  const row = { table: 'feed', name: session, event: head === 0 ? null : eventId(session, head) } as const;
  if (entries !== head) return [{ ...row, column: 'entries', found: entries, expected: head }];
  return astray === 0 ? [] : [{ ...row, column: 'astray', found: astray, expected: 0 }];
}

const UNSTARTED = { parent: null, agent: null, role: null, state: null, startedAt: null, endedAt: null };

function runDrifts(session: SessionId, row: IndexedRun, expected: Expected): DriftedRow[] {
  return COLUMNS.flatMap((column) => {
    const [found, wanted] = [row[column], expected[column]];
    // A run that has not started has no parent yet by which its root could be told.
    if (wanted === undefined || found === wanted || (expected.startedAt === null && column === 'root')) return [];
    const event: EventId = eventId(session, column === 'first' && typeof wanted === 'number' ? wanted : expected.by);
    return [{ table: 'run', name: row.run, column, found, expected: wanted, event }];
  });
}

/** The same rules by which the index follows the events when they are appended. */
function changeRun(
  run: Expected,
  { type, at, position }: ChainedFields,
  payload: unknown,
  rootOf: (parent: string) => Value | undefined,
): void {
  const change = (changes: Partial<Expected>): void => void Object.assign(run, changes, { by: position });
  const isOpen = run.endedAt === null;
  if (type === 'run.started' && run.startedAt === null) {
    const started = payload as Payloads['run.started'] | undefined;
    if (started === undefined) change({ ...UNKNOWN_START, state: 'running', startedAt: at });
    else {
      const { agent } = started;
      const role = roleInTree(started) ?? null;
      const parent = parentRun(started) ?? null;
      const root = parent === null ? run.root : rootOf(parent);
      change({ agent, role, parent: root === undefined ? null : parent, root, state: 'running', startedAt: at });
    }
  } else if (type === 'run.ended' && isOpen) {
    change({ state: (payload as Payloads['run.ended'] | undefined)?.status, endedAt: at });
  } else if (type === 'run.reopened') {
    change({ state: 'running', endedAt: null });
  } else if (type === 'approval.answered') {
    if (run.state === 'waiting') change({ state: 'running' });
  } else {
    const state = STATES[type as EventType];
    if (state !== undefined && isOpen) change({ state });
  }
}

const UNKNOWN_START = { agent: undefined, role: undefined, parent: undefined, root: undefined };
const STATES: Partial<Record<EventType, string>> = {
  'run.paused': 'paused',
  'run.parked': 'parked',
  'run.resumed': 'running',
  'approval.asked': 'waiting',
  'task.clarify': 'waiting',
};

export interface DerivedCounters {
  apply(fields: ChainedFields, payload: unknown): void;
  /** `whole`: the events of all sessions were applied. */
  drifts(found: ReadonlyMap<string, number>, whole: boolean): readonly DriftedRow[];
}

const BUDGET = 'budget/';
/** Counters that have a message sent or read once: without the event, it never would be. */
const ONCE: Partial<Record<EventType, string>> = { 'message.sent': 'message/', 'message.read': 'read/' };
const PROJECT = `${BUDGET}project/`;

/** What is spent and reserved in each scope, and which messages were sent and read. */
export function deriveCounters(): DerivedCounters {
  const values = new Map<string, { value: number; by: EventId }>();
  const said = new Set<string>();
  let unknown = false;
  /** Of the session that is read now, until it is known that it happened here. */
  let session: { readonly name: SessionId; readonly values: typeof values; unknown: boolean } | undefined;
  const settle = (): void => {
    for (const [name, { value, by }] of session?.values ?? [])
      values.set(name, { value: (values.get(name)?.value ?? 0) + value, by });
    unknown ||= session?.unknown === true;
    session = undefined;
  };
  const add = (name: string, amount: number, by: EventId): void => {
    const own = session?.values;
    if (amount !== 0 || own?.has(name) === true || values.has(name))
      own?.set(name, { value: (own.get(name)?.value ?? 0) + amount, by });
  };
  const addAmounts = (scopes: readonly string[], amounts: object, sign: 1 | -1, by: EventId): void => {
    for (const scope of scopes)
      for (const [unit, amount] of Object.entries(amounts)) add(`${BUDGET}${scope}/${unit}`, sign * (amount ?? 0), by);
  };
  return {
    apply({ type, session: of, position }, payload) {
      const by = eventId(of, position);
      if (session?.name !== of) settle();
      session ??= { name: of, values: new Map(), unknown: false };
      // What was spent elsewhere was never counted here.
      if (type === 'session.imported') session = { name: of, values: new Map(), unknown: false };
      const once = ONCE[type as EventType];
      if (type !== 'budget.reserved' && type !== 'budget.settled' && once === undefined) return;
      if (payload === undefined) session.unknown = true;
      else if (once !== undefined) said.add(`${once}${(payload as Payloads['message.read']).message}`);
      else if (type === 'budget.reserved') {
        const { scopes, amounts } = payload as Payloads['budget.reserved'];
        addAmounts(scopes, amounts, 1, by);
      } else {
        const { scopes, reserved, spent } = payload as Payloads['budget.settled'];
        addAmounts(scopes, spent, 1, by);
        addAmounts(scopes, reserved, -1, by);
      }
    },
    drifts(found, whole) {
      settle();
      const names = new Set([...values.keys(), ...(whole ? found.keys() : [])]);
      return [...names].flatMap((name): DriftedRow[] => {
        const there = found.get(name) ?? 0;
        const { value: expected = 0, by: event = null } = values.get(name) ?? {};
        const isOnce = Object.values(ONCE).some((kind) => name.startsWith(kind));
        if (!name.startsWith(BUDGET) && !isOnce) return [];
        // What others have spent of the project's budget, and what is collected, is not among what was read.
        if (name.startsWith(PROJECT) && !whole) return [];
        if (unknown && (name.startsWith(PROJECT) || !values.has(name))) return [];
        if (isOnce ? there === 0 || said.has(name) : there === expected) return [];
        return [{ table: 'counter', name, column: 'value', found: there, expected, event }];
      });
    },
  };
}
