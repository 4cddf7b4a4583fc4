/**
 * A session that was made of another program's transcript, or that came in a bundle, is there to be read: what it would go on
 * with was never here, and whoever began it may have gone on with it. The first event of the one says so, the last of the other.
 */
import { TroupeError } from '../base/errors.ts';
import { type RunId, type SessionId, shortId } from '../base/ids.ts';
import type { Failure } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { type ImportSource, programNames } from '../events/going-on.ts';
import { nothingLeft } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Engine } from './port.ts';

type Reads = Pick<Ledger, 'read'>;

/** The transcript that this session was made of; `undefined` for any other. */
export async function importedFrom(ledger: Reads, session: SessionId): Promise<ImportSource | undefined> {
  // The first event, by its place: a question about types looks through all of a session.
  const [first] = await ledger.read({ session, limit: 1 }).catch(nothingLeft);
  return first?.event_type === 'session.started' ? first.payload.imported : undefined;
}

/** Why nothing is done with what was made of a transcript, not even played again or forked: it never was a run of ours. */
export async function closedAsImported(ledger: Reads, session: SessionId): Promise<Failure | undefined> {
  const imported = await importedFrom(ledger, session);
  if (imported === undefined) return undefined;
  const name = programNames[imported.program];
  return {
    code: 'imported',
    message: `Session ${session} was imported from ${name}, and can only be read.`,
    fix: `Go on in ${name}, or begin a run of your own: troupe run <agent> "…"`,
  };
}

async function closedAsBundled(ledger: Reads, session: SessionId): Promise<Failure | undefined> {
  const [last] = await ledger.read({ session, newest: true, limit: 1 }).catch(nothingLeft);
  if (last?.event_type !== 'session.imported') return undefined;
  return {
    code: 'imported',
    message: `Session ${session} was imported from a bundle, and can only be read.`,
    fix: `Go on where it began, or in a session of your own: troupe fork ${shortId(last.run_id)}`,
  };
}

/** Why nothing goes on in this session; `undefined` for one that began here. */
export async function closedToWork(ledger: Reads, session: SessionId): Promise<Failure | undefined> {
  return (await closedAsBundled(ledger, session)) ?? (await closedAsImported(ledger, session));
}

export async function refuseImported(ledger: Reads, session: SessionId): Promise<void> {
  const failure = await closedToWork(ledger, session);
  if (failure !== undefined) throw new TroupeError(failure.code, failure.message, { fix: failure.fix });
}

/** The same engine, but nothing is done in sessions that came from elsewhere. What they ask was asked there. */
export function ownSessionsOnly({ ledger }: { readonly ledger: Ledger }, engine: Engine): Engine {
  const sessionOf = async (run: RunId): Promise<SessionId | undefined> => (await ledger.runs({ run, limit: 1 }))[0]?.session;
  const closed = async (run: RunId, why = closedToWork): Promise<Failure | undefined> => {
    const session = await sessionOf(run);
    return session === undefined ? undefined : await why(ledger, session);
  };
  const refused = (error: Failure) => ({ kind: 'refused', error }) as const;
  const unlessClosed = async <Value>(run: RunId, act: () => Promise<Value>): Promise<Value> => {
    const session = await sessionOf(run);
    if (session !== undefined) await refuseImported(ledger, session);
    return await act();
  };
  return {
    ...engine,
    async start(request) {
      const { session, isNew } = request;
      const error = session === undefined || isNew === true ? undefined : await closedToWork(ledger, session);
      return error === undefined ? await engine.start(request) : refused(error);
    },
    async resume(run, ...rest) {
      const error = await closed(run);
      return error === undefined ? await engine.resume(run, ...rest) : refused(error);
    },
    async withdraw(run) {
      const error = await closed(run);
      return error === undefined ? await engine.withdraw(run) : refused(error);
    },
    /** What came in a bundle goes on in a session of one's own. */
    async fork(request) {
      const error = await closed(request.run, closedAsImported);
      return error === undefined ? await engine.fork(request) : refused(error);
    },
    cancel: (run, ...rest) => unlessClosed(run, () => engine.cancel(run, ...rest)),
    pause: (run, ...rest) => unlessClosed(run, () => engine.pause(run, ...rest)),
    answer: (run, ...rest) => unlessClosed(run, () => engine.answer(run, ...rest)),
    send: (run, ...rest) => unlessClosed(run, () => engine.send(run, ...rest)),
    async forget(session, ...rest) {
      await refuseImported(ledger, session);
      return await engine.forget(session, ...rest);
    },
    /** Those of a transcript never asked anybody here. */
    waits: async (run) => ((await closed(run, closedAsBundled)) === undefined ? await engine.waits(run) : []),
  };
}

/** Of an imported session, what happened where it began, however many ledgers it came through. */
export function beforeImport(events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const last = events.at(-1);
  return last?.event_type === 'session.imported' ? beforeImport(events.slice(0, last.payload.events)) : events;
}
