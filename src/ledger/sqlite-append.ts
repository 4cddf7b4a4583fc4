/**
 * One append inside the transaction. First everything that can refuse it is asked: the fence, the counters, the runs and
 * the causes. Only then is anything written, so a refused append leaves no trace.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../base/ids.ts';
import { SCHEMA_VERSION } from '../events/envelope.ts';
import { CHAIN_START, type ChainedFields, chainHash } from './chain.ts';
import type { Append, AppendOutcome, NewEvent } from './port.ts';
import { badAppend, type PreparedEvent } from './prepared-event.ts';
import type { Memo, SessionState } from './sqlite-memo.ts';
import type { PayloadStore } from './sqlite-payloads.ts';
import type { RunIndex } from './sqlite-runs.ts';
import { positionIn, toLedgerEvent } from './stored-event.ts';
import { createWrittenEvents, type WrittenEvents } from './written-events.ts';

interface Appender {
  apply(request: Append, events: readonly PreparedEvent[]): AppendOutcome;
  committed(): void;
  rolledBack(): void;
}

export function createAppender(database: DatabaseSync, memo: Memo, runs: RunIndex, payloads: PayloadStore): Appender {
  const addSession = database.prepare('INSERT INTO session (name) VALUES (?)');
  const addEvent = database.prepare('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const noteInbound = database.prepare('UPDATE session SET inbound = ? WHERE id = ?');
  const seal = database.prepare('UPDATE session SET sealed = ?, seal = ? WHERE id = ?');
  const written = createWrittenEvents();

  const createSession = (name: SessionId): SessionState => {
    const id = Number(addSession.run(name).lastInsertRowid);
    return memo.addSession(name, { id, head: 0, chain: CHAIN_START });
  };

  const write = (request: Append, session: SessionState, parent: number | null, prepared: PreparedEvent): ChainedFields => {
    const { event, at, body, attachment } = prepared;
    const position = session.head + 1;
    const run = runs.ensure(event.run, session.id, position, request.fence?.run ?? event.run);
    const fields: ChainedFields = {
      session: request.session,
      position,
      run: event.run,
      parent,
      at,
      actor: event.actor,
      tool: event.tool ?? null,
      type: event.type,
      step: event.step ?? null,
      payload: body.ref,
      attachment: attachment === null ? null : attachment.ref,
      version: SCHEMA_VERSION,
    };
    const chain = chainHash(session.chain, fields);
    const payload = payloads.store(body);
    const attached = attachment === null ? null : payloads.store(attachment);
    const { actor, tool, type, step, version } = fields;
    const hash = Buffer.from(chain, 'hex');
    addEvent.run(session.id, position, run.id, parent, at, actor, tool, type, step, payload, attached, version, hash);
    runs.apply(run, event, at);
    session.head = position;
    session.chain = chain;
    if (request.fence === null) noteInbound.run(position, session.id);
    if (event.type === 'run.ended' || position === 1) seal.run(position, hash, session.id);
    written.add(event, request.session, position);
    return fields;
  };

  return {
    apply: (request, events) => {
      const refusal = fenceRefusal(memo, request) ?? counterRefusal(memo, request);
      if (refusal !== undefined) return refusal;
      checkRuns(memo, request);
      const known = memo.session(request.session);
      const parents = parentsOf(request, known?.head ?? 0, written);
      for (const { name, add } of request.counters ?? []) if (add !== 0) memo.setCounter(name, memo.counter(name) + add);
      if (events.length === 0) return { kind: 'appended', events: [] };
      const session = known ?? createSession(request.session);
      const appended = events.map((event, index) =>
        toLedgerEvent(write(request, session, parents[index] ?? null, event), event.payload),
      );
      return { kind: 'appended', events: appended };
    },
    committed: written.keep,
    rolledBack: written.drop,
  };
}

function fenceRefusal(memo: Memo, { fence, session }: Append): AppendOutcome | undefined {
  if (fence === null) return undefined;
  const lease = memo.lease(fence.run);
  if (lease === undefined || lease.owner === null || lease.epoch !== fence.epoch) return { kind: 'lease_lost', run: fence.run };
  if (lease.session !== session) throw badAppend(`the fence of ${fence.run} is for ${lease.session}, not for ${session}`);
  return undefined;
}

/** Giving back is always allowed: only a change upwards can pass a limit. */
function counterRefusal(memo: Memo, { counters }: Append): AppendOutcome | undefined {
  if (counters === undefined) return undefined;
  const changed = new Map<string, number>();
  for (const { name, add, max } of counters) {
    const value = changed.get(name) ?? memo.counter(name);
    if (max !== undefined && add > 0 && value + add > max) return { kind: 'over_limit', counter: name, value, add, max };
    if (!Number.isSafeInteger(value + add)) throw badAppend(`counter ${name} would grow too large`);
    changed.set(name, value + add);
  }
  return undefined;
}

/** A fence covers its run and the runs below it; without a fence only known runs can be spoken to. */
function checkRuns(memo: Memo, { session, fence, events }: Append): void {
  const sessionId = memo.session(session)?.id;
  const rootId = fence === null ? undefined : memo.run(fence.run)?.id;
  for (const event of events) {
    const run = memo.run(event.run);
    if (run === undefined) {
      if (fence === null) throw badAppend(`there is no run ${event.run} in ${session}`);
    } else if (run.session !== sessionId) throw badAppend(`${event.run} belongs to another session than ${session}`);
    else if (fence !== null && run.root !== rootId) throw badAppend(`the fence of ${fence.run} does not cover ${event.run}`);
  }
}

/** Invariant I3: only the first event of a session has no parent, and every parent is there. Returns the parents' positions. */
function parentsOf({ session, events }: Append, head: number, written: WrittenEvents): readonly (number | null)[] {
  const earlier = new Map<NewEvent, number>();
  return events.map((event, index) => {
    const position = head + 1 + index;
    const { cause } = event;
    if ((cause === null) !== (position === 1)) {
      throw badAppend(cause === null ? `${event.type} has no cause` : `${event.type} opens ${session} and cannot have a cause`);
    }
    earlier.set(event, position);
    if (cause === null) return null;
    const parent =
      typeof cause === 'string' ? positionIn(session, cause) : (earlier.get(cause) ?? written.position(session, cause));
    if (parent === undefined || parent >= position) throw badAppend(`the cause of ${event.type} is not in ${session}`);
    return parent;
  });
}
