/** Rows as they are copied; both stores select them under these names. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import type { CopiedRun, CopiedSession } from './store.ts';

export function copiedSession(row: Row): CopiedSession {
  return {
    session: text(row, 'name') as SessionId,
    head: integer(row, 'head'),
    chain: hex(bytes(row, 'chain')),
    sealed: integer(row, 'sealed'),
    seal: hex(bytes(row, 'seal')),
    inbound: integer(row, 'inbound'),
    collected: integer(row, 'collected'),
    pinned: row['pinned'] === true || row['pinned'] === 1,
  };
}

export function copiedRun(row: Row): CopiedRun {
  return {
    run: text(row, 'name') as RunId,
    root: text(row, 'root') as RunId,
    first: integer(row, 'first'),
    parent: textOrNull(row, 'parent') as RunId | null,
    agent: textOrNull(row, 'agent'),
    role: textOrNull(row, 'role'),
    state: textOrNull(row, 'state'),
    startedAt: integerOrNull(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  };
}
