/**
 * A session that was made of another program's transcript is there to be read: nothing in it goes on, is answered, told anything
 * or forked, because what it would need to go on was never here.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import type { Failure } from '../events/catalogue.ts';
import { type ImportSource, programNames } from '../events/going-on.ts';
import type { Ledger } from '../ledger/port.ts';
import { ownSessionsOnly } from './imported-sessions.ts';
import type { Engine } from './port.ts';

/** The transcript that this session was made of; `undefined` for one of ours. */
export async function importedFrom(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<ImportSource | undefined> {
  // The first event, by its place: a question about types looks through all of a session.
  const [first] = await ledger.read({ session, limit: 1 });
  return first?.event_type === 'session.started' ? first.payload.imported : undefined;
}

/** Why nothing is done in this session; `undefined` for one of ours. */
export async function closedAsImported(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<Failure | undefined> {
  const imported = await importedFrom(ledger, session);
  if (imported === undefined) return undefined;
  const name = programNames[imported.program];
  return {
    code: 'imported',
    message: `Session ${session} was imported from ${name}, and can only be read.`,
    fix: `Go on in ${name}, or begin a run of your own: troupe run <agent> "…"`,
  };
}

/** The same engine, but for sessions that were imported. What is said to these finds that they have ended. */
export function closedToImports({ ledger }: { readonly ledger: Ledger }, all: Engine): Engine {
  const engine = ownSessionsOnly({ ledger }, all);
  const closed = async (run: RunId): Promise<Failure | undefined> => {
    const [row] = await ledger.runs({ run, limit: 1 });
    return row === undefined ? undefined : await closedAsImported(ledger, row.session);
  };
  const unlessImported = async <Outcome>(
    run: RunId,
    instead: (error: Failure) => Outcome,
    act: () => Promise<Outcome>,
  ): Promise<Outcome> => {
    const error = await closed(run);
    return error === undefined ? await act() : instead(error);
  };
  const ended = () => ({ kind: 'ended' }) as const;
  const refused = (error: Failure) => ({ kind: 'refused', error }) as const;
  return {
    ...engine,
    async start(request) {
      const session = request.isNew === true ? undefined : request.session;
      const error = session === undefined ? undefined : await closedAsImported(ledger, session);
      return error === undefined ? await engine.start(request) : refused(error);
    },
    resume: (run, ...rest) => unlessImported(run, refused, () => engine.resume(run, ...rest)),
    cancel: (run, reason, sender) => unlessImported(run, ended, () => engine.cancel(run, reason, sender)),
    pause: (run, reason, sender) => unlessImported(run, ended, () => engine.pause(run, reason, sender)),
    answer: (run, ...rest) => unlessImported(run, ended, () => engine.answer(run, ...rest)),
    send: (run, ...rest) => unlessImported(run, ended, () => engine.send(run, ...rest)),
    withdraw: (run) => unlessImported(run, refused, () => engine.withdraw(run)),
    fork: (request) => unlessImported(request.run, refused, () => engine.fork(request)),
  };
}
