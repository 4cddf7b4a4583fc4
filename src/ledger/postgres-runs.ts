/** The list of runs, with who holds each now. */
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { RunFilter, RunRow } from './port.ts';
import type { Database, Statement } from './postgres-connection.ts';
import { isLiveOwner, OWNER_COLUMNS, ownerOf } from './postgres-owner.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from './rows.ts';
import { runStateOf } from './run-state.ts';

const RUNS: Statement = {
  name: 'troupe-list-runs',
  text: `SELECT run.name, session.name AS session, parent.name AS parent, run.agent, run.state, run.started_at, run.ended_at,
                ${OWNER_COLUMNS}
         FROM run JOIN session ON session.id = run.session
         LEFT JOIN run AS parent ON parent.id = run.parent
         LEFT JOIN run AS root ON root.id = run.root
         LEFT JOIN lease ON lease.run = root.name
         LEFT JOIN writer ON writer.id = lease.owner
         WHERE run.started_at IS NOT NULL
           AND ($1::text IS NULL OR run.session = (SELECT id FROM session WHERE name = $1))
           AND (NOT $2::boolean OR run.root = run.id)
           AND ($3::text[] IS NULL OR run.state = ANY($3))
           AND ($5::text IS NULL OR run.name = $5)
         ORDER BY run.started_at DESC, run.id DESC LIMIT $4`,
};

export async function readPostgresRuns(database: Database, filter: RunFilter): Promise<readonly RunRow[]> {
  const { session = null, roots = false, states = null, limit = limits.readPageEvents, run = null } = filter;
  return (await database.rows(RUNS, [session, roots, states, limit, run])).map(runRow);
}

function runRow(row: Row): RunRow {
  return {
    run: text(row, 'name') as RunId,
    session: text(row, 'session') as SessionId,
    parent: textOrNull(row, 'parent') as RunId | null,
    agent: text(row, 'agent'),
    state: runStateOf(text(row, 'state')),
    startedAt: integer(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    owner: isLiveOwner(row) ? ownerOf(row) : null,
  };
}
