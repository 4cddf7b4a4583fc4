/** One append inside the transaction: first everything that can refuse it is asked, then it is written. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId, SessionId } from '../../base/ids.ts';
import { CHAIN_START, type ChainedFields } from '../../events/envelope.ts';
import type { Append, AppendOutcome } from '../port.ts';
import { checkRuns, parentsOf, refusalOf, topsIn } from '../rules/append.ts';
import { chainHash } from '../rules/chain.ts';
import { chainedFields, isInbound, type PreparedEvent } from '../rules/prepared-event.ts';
import { toLedgerEvent } from '../rules/stored-event.ts';
import { createWrittenEvents } from '../rules/written-events.ts';
import type { Memo, RememberedSession } from './memo.ts';
import type { PayloadStore } from './payloads.ts';
import type { RunIndex } from './runs.ts';

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

  const createSession = (name: SessionId): RememberedSession => {
    const id = Number(addSession.run(name).lastInsertRowid);
    return memo.addSession(name, { id, head: 0, chain: CHAIN_START, inbound: 0 });
  };

  const write = (
    request: Append,
    session: RememberedSession,
    parent: number | null,
    prepared: PreparedEvent,
    top: (run: RunId) => RunId,
  ): ChainedFields => {
    const { event, at, body, attachment } = prepared;
    const position = session.head + 1;
    const run = runs.ensure(event.run, session.id, position, top(event.run));
    const fields = chainedFields(request.session, position, parent, prepared);
    const chain = chainHash(session.chain, fields);
    const payload = payloads.store(body);
    const attached = attachment === null ? null : payloads.store(attachment);
    const { actor, tool, type, step, version } = fields;
    const hash = Buffer.from(chain, 'hex');
    addEvent.run(session.id, position, run.id, parent, at, actor, tool, type, step, payload, attached, version, hash);
    runs.apply(run, event, at);
    session.head = position;
    session.chain = chain;
    if (isInbound(event)) {
      session.inbound = position;
      noteInbound.run(position, session.id);
    }
    if (event.type === 'run.ended' || position === 1) seal.run(position, hash, session.id);
    written.add(event, request.session, position);
    return fields;
  };

  return {
    apply: (request, events) => {
      const refusal = refusalOf(memo, request);
      if (refusal !== undefined) return refusal;
      checkRuns(memo, request);
      const known = memo.session(request.session);
      const parents = parentsOf(request, known?.head ?? 0, written);
      for (const { name, add } of request.counters ?? []) if (add !== 0) memo.setCounter(name, memo.counter(name) + add);
      if (events.length === 0) return { kind: 'appended', events: [] };
      const session = known ?? createSession(request.session);
      const top = topsIn(request, session.head);
      const appended = events.map((event, index) =>
        toLedgerEvent(write(request, session, parents[index] ?? null, event, top), event.payload),
      );
      return { kind: 'appended', events: appended };
    },
    committed: written.keep,
    rolledBack: written.drop,
  };
}
