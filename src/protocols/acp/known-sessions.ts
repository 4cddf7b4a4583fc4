/** The sessions of a project that a person talks in: what a client can load, and how each was left. */
import type { SessionInfo } from '@agentclientprotocol/sdk';
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventOf } from '../../events/envelope.ts';
import { textOf } from '../../events/messages.ts';
import { modeSaid } from '../../events/run-origin.ts';
import { foldSession, nothingLeft } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { foldCosts, initialCosts } from '../../projections/costs.ts';
import { firstLine } from '../../projections/readable.ts';
import type { AcpMode, AcpProject } from './needs.ts';

export interface KnownSession {
  readonly agent: string;
  readonly model: string | undefined;
  readonly mode: AcpMode;
  readonly nanoUsd: number;
}

/** How the session was left. One that is not there, or that no person talks in, is not known. */
export async function knownSession({ ledger }: AcpProject, id: string): Promise<KnownSession> {
  const session = id as SessionId;
  const [newest] = await ledger.runs({ session, roots: true, limit: 1 });
  const started = newest && (await startOf(ledger, newest));
  if (started === undefined || started.origin.kind !== 'person')
    throw new TroupeError('unknown_session', `There is no session ${JSON.stringify(id.slice(0, 100))} here.`, {
      fix: 'See what there is: session/list.',
    });
  const { total } = await foldSession(ledger, session, initialCosts(), foldCosts);
  return { agent: started.agent, model: started.model, mode: modeSaid(started) ?? 'ask', nanoUsd: total.nanoUsd };
}

export interface SessionPage {
  readonly sessions: SessionInfo[];
  readonly nextCursor: string | null;
}

/** Newest first. `cwd`: only those that began there. */
export async function listSessions(
  { ledger }: Pick<AcpProject, 'ledger'>,
  cwd: string | undefined,
  cursor: string | undefined,
): Promise<SessionPage> {
  const from = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0) throw new TroupeError('usage', 'That is no cursor of this list.');
  const roots = await ledger.runs({ roots: true, limit: limits.runLookup });
  const all = [...Map.groupBy(roots, (row) => row.session)];
  const sessions: SessionInfo[] = [];
  let at = from;
  for (; at < all.length && sessions.length < limits.acpPage; at += 1) {
    const [session, rows] = all[at] ?? [];
    const info = session === undefined ? undefined : await infoOf(ledger, session, rows ?? []);
    if (info !== undefined && (cwd === undefined || info.cwd === cwd)) sessions.push(info);
  }
  return { sessions, nextCursor: at < all.length ? String(at) : null };
}

async function infoOf(ledger: Ledger, session: SessionId, rows: readonly RunRow[]): Promise<SessionInfo | undefined> {
  const [newest] = rows;
  const first = rows.at(-1);
  const started = first && (await startOf(ledger, first));
  const [began] = await ledger.read({ session, types: ['session.started'], limit: 1 }).catch(nothingLeft);
  if (newest === undefined || started?.origin.kind !== 'person' || began?.event_type !== 'session.started') return undefined;
  const { input } = started;
  const text = input.role === 'user' ? textOf(input.content.filter((part) => part.type === 'text')) : '';
  return {
    ...{ sessionId: session, cwd: began.payload.workspace, title: firstLine(text, limits.acpTitleCharacters) },
    updatedAt: new Date(newest.endedAt ?? newest.startedAt).toISOString(),
  };
}

async function startOf(
  ledger: Pick<Ledger, 'read'>,
  { session, run }: RunRow,
): Promise<EventOf<'run.started'>['payload'] | undefined> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 }).catch(nothingLeft);
  return started?.event_type === 'run.started' ? started.payload : undefined;
}
