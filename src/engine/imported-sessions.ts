/**
 * A session that came in a bundle is there to be read: what it would go on with was never here, and whoever began it may have
 * gone on with it. The last of its events says so, and nothing comes after that.
 */
import { codeOf, TroupeError } from '../base/errors.ts';
import { type RunId, type SessionId, shortId } from '../base/ids.ts';
import type { Failure } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Engine } from './port.ts';

/** Why nothing is done in this session; `undefined` for one that began here. */
export async function closedAsBundled(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<Failure | undefined> {
  const [last] = await ledger.read({ session, newest: true, limit: 1 }).catch(nothingToRead);
  if (last?.event_type !== 'session.imported') return undefined;
  return {
    code: 'imported',
    message: `Session ${session} was imported from a bundle, and can only be read.`,
    fix: `Go on where it began, or in a session of your own: troupe fork ${shortId(last.run_id)}`,
  };
}

const nothingToRead = (error: unknown): readonly LedgerEvent[] => {
  if (codeOf(error) === 'ledger_collected') return [];
  throw error;
};

export async function refuseBundled(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<void> {
  const failure = await closedAsBundled(ledger, session);
  if (failure !== undefined) throw new TroupeError(failure.code, failure.message, { fix: failure.fix });
}

/** The same engine, but nothing is done in sessions that came in a bundle. What they ask was asked elsewhere. */
export function ownSessionsOnly({ ledger }: { readonly ledger: Ledger }, engine: Engine): Engine {
  const closedTo = async (run: RunId): Promise<Failure | undefined> => {
    const [row] = await ledger.runs({ run, limit: 1 });
    return row === undefined ? undefined : await closedAsBundled(ledger, row.session);
  };
  const refused = (error: Failure) => ({ kind: 'refused', error }) as const;
  const unlessClosed = async <Value>(run: RunId, act: () => Promise<Value>): Promise<Value> => {
    const closed = await closedTo(run);
    if (closed !== undefined) throw new TroupeError(closed.code, closed.message, { fix: closed.fix });
    return await act();
  };
  return {
    ...engine,
    async start(request) {
      const { session, isNew } = request;
      const closed = session === undefined || isNew === true ? undefined : await closedAsBundled(ledger, session);
      return closed === undefined ? await engine.start(request) : refused(closed);
    },
    async resume(run, ...rest) {
      const closed = await closedTo(run);
      return closed === undefined ? await engine.resume(run, ...rest) : refused(closed);
    },
    async withdraw(run) {
      const closed = await closedTo(run);
      return closed === undefined ? await engine.withdraw(run) : refused(closed);
    },
    cancel: (run, ...rest) => unlessClosed(run, () => engine.cancel(run, ...rest)),
    pause: (run, ...rest) => unlessClosed(run, () => engine.pause(run, ...rest)),
    answer: (run, ...rest) => unlessClosed(run, () => engine.answer(run, ...rest)),
    send: (run, ...rest) => unlessClosed(run, () => engine.send(run, ...rest)),
    async forget(session, ...rest) {
      await refuseBundled(ledger, session);
      return await engine.forget(session, ...rest);
    },
    waits: async (run) => ((await closedTo(run)) === undefined ? await engine.waits(run) : []),
  };
}

/** Of an imported session, what happened where it began, however many ledgers it came through. */
export function beforeImport(events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const last = events.at(-1);
  return last?.event_type === 'session.imported' ? beforeImport(events.slice(0, last.payload.events)) : events;
}
