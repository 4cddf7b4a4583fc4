/** The list of runs, with who holds each now: a run that has no lease of its own is covered by its root's. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { RunFilter, RunRow } from '../port.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import { isUnfinished, runStateOf } from '../rules/run-state.ts';
import type { Database, Statement } from './connection.ts';
import { isLiveOwner, leaseOwner, OWNER_COLUMNS } from './owner.ts';

/** A run that has no lease of its own is covered by the one of its root. */
const RUNS = `
SELECT run.name, session.name AS session, parent.name AS parent, run.agent, run.state, run.started_at, run.ended_at,
       ${OWNER_COLUMNS}
FROM run JOIN session ON session.id = run.session
LEFT JOIN run AS parent ON parent.id = run.parent
LEFT JOIN run AS root ON root.id = run.root
LEFT JOIN lease AS own ON own.run = run.name
LEFT JOIN lease ON lease.run = CASE WHEN own.run IS NULL THEN root.name ELSE run.name END
LEFT JOIN writer ON writer.id = lease.owner
WHERE run.started_at IS NOT NULL AND (NOT $1::boolean OR run.root = run.id) AND ($2::text[] IS NULL OR run.state = ANY($2))
  AND ($4::text IS NULL OR run.agent = $4)
  AND ($5::text IS NULL OR (run.started_at, run.id) < (SELECT started_at, id FROM run WHERE name = $5))`;
const NEWEST_FIRST = ' ORDER BY run.started_at DESC, run.id DESC LIMIT $3';
/** What narrows the search most is said plainly, so that its index is used. */
const ALL: Statement = { name: 'troupe-all-runs', text: `${RUNS}${NEWEST_FIRST}` };
/** Few of all that there ever were: they are put in order, instead of going through all in theirs. */
const ALL_UNFINISHED: Statement = {
  name: 'troupe-all-unfinished-runs',
  text: `${RUNS} AND run.ended_at IS NULL ORDER BY run.started_at + 0 DESC, run.id DESC LIMIT $3`,
};
const OF_SESSION: Statement = {
  name: 'troupe-session-runs',
  text: `${RUNS} AND run.session = (SELECT id FROM session WHERE name = $6)${NEWEST_FIRST}`,
};
const UNFINISHED: Statement = {
  name: 'troupe-unfinished-runs',
  text: `${RUNS} AND run.session = (SELECT id FROM session WHERE name = $6) AND run.ended_at IS NULL${NEWEST_FIRST}`,
};
const ONE: Statement = {
  name: 'troupe-one-run',
  text: `${RUNS} AND run.name = $6 AND ($7::text IS NULL OR session.name = $7)${NEWEST_FIRST}`,
};

export async function readPostgresRuns(database: Database, filter: RunFilter): Promise<readonly RunRow[]> {
  const { session, roots = false, states = null, limit = limits.readPageEvents, agent = null, before = null, run } = filter;
  const common = [roots, states, limit, agent, before];
  const read = (): Promise<readonly Row[]> => {
    if (run !== undefined) return database.rows(ONE, [...common, run, session ?? null]);
    const unfinished = states?.every(isUnfinished) === true;
    if (session === undefined) return database.rows(unfinished ? ALL_UNFINISHED : ALL, common);
    return database.rows(unfinished ? UNFINISHED : OF_SESSION, [...common, session]);
  };
  return (await read()).map(runRow);
}

function runRow(row: Row): RunRow {
  const isOwned = isLiveOwner(row);
  return {
    run: text(row, 'name') as RunId,
    session: text(row, 'session') as SessionId,
    parent: textOrNull(row, 'parent') as RunId | null,
    agent: text(row, 'agent'),
    state: runStateOf(text(row, 'state')),
    startedAt: integer(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    owner: isOwned ? leaseOwner(row) : null,
    ...(row['owner'] !== null && !isOwned ? { cutOff: true } : {}),
  };
}
