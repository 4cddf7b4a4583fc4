/** One append on the rows of its batch: first everything that can refuse it is asked, then the rows are changed. */

import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { ChainedFields } from '../../events/envelope.ts';
import { parentRun, roleInTree } from '../../events/run-origin.ts';
import type { Append, AppendOutcome, NewEvent } from '../port.ts';
import { checkRuns, parentsOf, refusalOf, topsIn } from '../rules/append.ts';
import { chainHash } from '../rules/chain.ts';
import { badAppend, chainedFields, isInbound, type PayloadBody, type PreparedEvent } from '../rules/prepared-event.ts';
import { payloadPlace, toLedgerEvent } from '../rules/stored-event.ts';
import type { WrittenEvents } from '../rules/written-events.ts';
import type { BatchState, Needs, PostgresRun, PostgresSession } from './state.ts';

export function needsOf(request: Append, events: readonly PreparedEvent[]): Needs {
  const parents = events.flatMap(({ event }) =>
    event.type === 'run.started' ? (parentRun(event.payload) ?? []) : [],
  ) as RunId[];
  const fence = request.fence === null ? [] : [request.fence.run];
  return {
    sessions: [request.session],
    runs: [...fence, ...events.map(({ event }) => event.run)],
    parents: request.unended === undefined ? parents : [...parents, request.unended],
    leases: fence,
    counters: (request.counters ?? []).map(({ name }) => name),
    bodies: bodiesOf(events),
  };
}

export function bodiesOf(events: readonly PreparedEvent[]): readonly PayloadBody[] {
  return events.flatMap(({ body, attachment }) => (attachment === null ? [body] : [body, attachment]));
}

/** Postgres cannot keep a NUL in a text. Payloads may hold one: they are bytes. */
export function refuseNul({ session, events, counters }: Append): void {
  const texts = [session, ...(counters ?? []).map(({ name }) => name)];
  for (const { run, actor, tool, step } of events) texts.push(run, actor, tool ?? '', step ?? '');
  if (texts.some((text) => text.includes('\0'))) throw badAppend('a name holds a NUL character');
}

export function applyAppend(
  state: BatchState,
  written: WrittenEvents,
  request: Append,
  events: readonly PreparedEvent[],
): AppendOutcome {
  const refusal = refusalOf(state, request);
  if (refusal !== undefined) return refusal;
  checkRuns(state, request);
  const session = state.sessions.get(request.session);
  const parents = parentsOf(request, session?.head ?? 0, written);
  for (const { name, add } of request.counters ?? []) if (add !== 0) state.setCounter(name, state.counter(name) + add);
  if (events.length === 0 || session === undefined) return { kind: 'appended', events: [] };
  const top = topsIn(request, session.head);
  const appended = events.map((event, index) => {
    const run = ensureRun(state, top(event.event.run), session, event.event.run);
    const fields = write(state, request, session, parents[index] ?? null, event, run);
    written.add(event.event, request.session, fields.position);
    return toLedgerEvent(fields, event.payload);
  });
  return { kind: 'appended', events: appended };
}

function write(
  state: BatchState,
  request: Append,
  session: PostgresSession,
  parent: number | null,
  prepared: PreparedEvent,
  run: PostgresRun,
): ChainedFields {
  const { event, at, body, attachment } = prepared;
  const position = session.head + 1;
  const fields = chainedFields(request.session, position, parent, prepared);
  const chain = chainHash(session.chain, fields);
  for (const bytes of attachment === null ? [body] : [body, attachment]) store(state, bytes);
  state.events.push({ session: session.id, run: run.id, fields, chain });
  const changes = changesOf(state, run, event, at);
  if (changes !== undefined) Object.assign(run, changes, { changed: true });
  session.head = position;
  session.chain = chain;
  session.changed = true;
  if (isInbound(event)) session.inbound = position;
  if (event.type === 'run.ended' || position === 1) {
    session.sealed = position;
    session.seal = chain;
  }
  return fields;
}

/** `top`: whose lease covers it. */
function ensureRun(state: BatchState, top: RunId, session: PostgresSession, of: RunId): PostgresRun {
  const position = session.head + 1;
  const make = (name: NewEvent['run'], root: number | undefined): PostgresRun => {
    const run = state.runs.get(name);
    if (run === undefined) throw badAppend(`${name} was not asked for`);
    if (run.first > 0) return run;
    return Object.assign(run, { session: session.id, root: root ?? run.id, first: position, changed: true });
  };
  // Whoever writes for it may be below the root itself.
  const root = top === of ? undefined : make(top, undefined).root;
  return make(of, root);
}

/** What an event changes in the row of its run; the index of runs follows the events. */
function changesOf(state: BatchState, run: PostgresRun, event: NewEvent, at: number): Partial<PostgresRun> | undefined {
  switch (event.type) {
    case 'run.started': {
      if (run.startedAt !== null) return undefined;
      const parent = parentRun(event.payload);
      const parentId = parent === undefined ? null : (state.run(parent as RunId)?.id ?? null);
      return {
        agent: event.payload.agent,
        role: roleInTree(event.payload) ?? null,
        parent: parentId,
        state: 'running',
        startedAt: at,
      };
    }
    case 'run.ended':
      return run.endedAt === null ? { state: event.payload.status, endedAt: at } : undefined;
    case 'run.reopened':
      return { state: 'running', endedAt: null };
    case 'run.parked':
      return run.endedAt === null ? { state: 'parked' } : undefined;
    case 'run.paused':
      return run.endedAt === null ? { state: 'paused' } : undefined;
    case 'run.resumed':
      return run.endedAt === null ? { state: 'running' } : undefined;
    case 'approval.asked':
    case 'task.clarify':
      return run.endedAt === null ? { state: 'waiting' } : undefined;
    case 'approval.answered':
      return run.state === 'waiting' ? { state: 'running' } : undefined;
    default:
      return undefined;
  }
}

function store(state: BatchState, body: PayloadBody): void {
  const known = state.places.get(body.ref);
  if (state.bodies.has(body.ref) || (known !== undefined && known !== payloadPlace.gone)) return;
  state.bodies.set(body.ref, { body, revived: known === payloadPlace.gone });
}

export const isLarge = (body: PayloadBody): boolean => body.bytes > limits.payloadInlineBytes;
