/**
 * The index of runs: one row each, changed in the same transaction as the events it follows from. A row exists from a
 * run's first event on; it counts as a run once `run.started` is there.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { parentRun, roleInTree } from '../../events/run-origin.ts';
import type { NewEvent, RunFilter, RunRow } from '../port.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import { isUnfinished, runStateOf } from '../rules/run-state.ts';
import type { Memo, RememberedRun } from './memo.ts';

export interface RunIndex {
  /** The run's row, made when this is its first event. `root` is the run whose lease covers it. */
  ensure(name: RunId, session: number, position: number, root: RunId): RememberedRun;
  /** Follows an event that changes a run's state. */
  apply(run: RememberedRun, event: NewEvent, at: number): void;
}

export type RunReader = (filter: RunFilter) => readonly RunRow[];

export function createRunIndex(database: DatabaseSync, memo: Memo): RunIndex {
  const insert = database.prepare('INSERT INTO run (name, session, root, first) VALUES (?, ?, ?, ?)');
  const makeRoot = database.prepare('UPDATE run SET root = id WHERE id = ?');
  const start = database.prepare(
    `UPDATE run SET agent = ?, parent = (SELECT id FROM run WHERE name = ?), role = ?, state = 'running', started_at = ?
     WHERE id = ? AND started_at IS NULL`,
  );
  const end = database.prepare('UPDATE run SET state = ?, ended_at = ? WHERE id = ? AND ended_at IS NULL');
  const reopen = database.prepare("UPDATE run SET state = 'running', ended_at = NULL WHERE id = ?");
  const move = database.prepare('UPDATE run SET state = ? WHERE id = ? AND ended_at IS NULL');
  const answered = database.prepare("UPDATE run SET state = 'running' WHERE id = ? AND state = 'waiting'");

  const ensure: RunIndex['ensure'] = (name, session, position, root) => {
    const known = memo.run(name);
    if (known !== undefined) return known;
    // Whoever writes for it may be below the root itself.
    const rootId = name === root ? 0 : ensure(root, session, position, root).root;
    const id = Number(insert.run(name, session, rootId, position).lastInsertRowid);
    if (rootId === 0) makeRoot.run(id);
    const state: RememberedRun = { id, session, root: rootId === 0 ? id : rootId, endedAt: null };
    memo.addRun(name, state);
    return state;
  };

  return {
    ensure,
    apply: (run, event, at) => {
      const { id } = run;
      switch (event.type) {
        case 'run.started':
          start.run(event.payload.agent, parentRun(event.payload) ?? null, roleInTree(event.payload) ?? null, at, id);
          break;
        case 'run.ended':
          end.run(event.payload.status, at, id);
          run.endedAt ??= at;
          break;
        case 'run.reopened':
          reopen.run(id);
          run.endedAt = null;
          break;
        case 'run.parked':
          move.run('parked', id);
          break;
        case 'run.paused':
          move.run('paused', id);
          break;
        case 'run.resumed':
          move.run('running', id);
          break;
        case 'approval.asked':
        case 'task.clarify':
          move.run('waiting', id);
          break;
        case 'approval.answered':
          answered.run(id);
          break;
      }
    },
  };
}

const RUNS = `
SELECT run.name, session.name AS session, parent.name AS parent, run.agent, run.state, run.started_at, run.ended_at,
       owner.id AS owner, owner.pid, owner.host, owner.beat, CASE WHEN own.run IS NULL THEN above.owner ELSE own.owner END AS held
FROM run JOIN session ON session.id = run.session
LEFT JOIN run AS parent ON parent.id = run.parent
LEFT JOIN run AS root ON root.id = run.root
LEFT JOIN lease AS own ON own.run = run.name
LEFT JOIN lease AS above ON above.run = root.name
LEFT JOIN owner ON owner.id = CASE WHEN own.run IS NULL THEN above.owner ELSE own.owner END
WHERE run.started_at IS NOT NULL
  AND (?2 = 0 OR run.root = run.id)
  AND (?3 IS NULL OR run.state IN (SELECT value FROM json_each(?3)))
  AND (?6 IS NULL OR run.agent = ?6)`;
/** As a sum: of a bare number SQLite would make a new plan each time (see `read.ts`). */
const AT_MOST = 'LIMIT ?4 + 0';
const NEWEST_FIRST = ` ORDER BY run.id DESC ${AT_MOST}`;
/** What narrows the search most is said plainly, so that its index is used. */
const ONE = `${RUNS} AND run.name = ?5 AND (?1 IS NULL OR session.name = ?1)`;
const OF_SESSION = `${RUNS} AND run.session = (SELECT id FROM session WHERE name = ?1) AND ?5 IS NULL`;
const OF_ALL = `${RUNS} AND ?1 IS NULL AND ?5 IS NULL`;
const UNFINISHED = ' AND run.ended_at IS NULL';
const BEFORE = ' AND run.id < (SELECT id FROM run WHERE name = ?7)';
/** Few of all that there ever were: they are put in order, instead of going through all in theirs. */
const ALL_UNFINISHED_FIRST = ` ORDER BY +run.id DESC ${AT_MOST}`;

export function runsSql({ run, session, states, before }: RunFilter): string {
  const earlier = before === undefined ? '' : BEFORE;
  if (run !== undefined) return `${ONE}${earlier}${NEWEST_FIRST}`;
  const unfinished = states?.every(isUnfinished) === true;
  const narrowed = `${session === undefined ? OF_ALL : OF_SESSION}${unfinished ? UNFINISHED : ''}${earlier}`;
  return `${narrowed}${session === undefined && unfinished ? ALL_UNFINISHED_FIRST : NEWEST_FIRST}`;
}

/** Asked often, about one run above all: each statement is prepared once. */
export function createRunReader(database: DatabaseSync, isLive: (owner: Row) => boolean): RunReader {
  const statements = new Map<string, StatementSync>();
  const statement = (filter: RunFilter): StatementSync => {
    const sql = runsSql(filter);
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return (filter) => {
    const states = filter.states === undefined ? null : JSON.stringify(filter.states);
    const limit = filter.limit ?? limits.readPageEvents;
    const rows = statement(filter).all(
      ...[filter.session ?? null, filter.roots === true ? 1 : 0, states, limit, filter.run ?? null, filter.agent ?? null],
      ...(filter.before === undefined ? [] : [filter.before]),
    );
    return asRunRows(rows, isLive);
  };
}

function asRunRows(rows: readonly Row[], isLive: (owner: Row) => boolean): readonly RunRow[] {
  return rows.map((row) => {
    const isOwned = row['owner'] !== null && isLive(row);
    return {
      run: text(row, 'name') as RunId,
      session: text(row, 'session') as SessionId,
      parent: textOrNull(row, 'parent') as RunId | null,
      agent: text(row, 'agent'),
      state: runStateOf(text(row, 'state')),
      startedAt: integer(row, 'started_at'),
      endedAt: integerOrNull(row, 'ended_at'),
      owner: isOwned ? { id: text(row, 'owner'), pid: integer(row, 'pid'), host: text(row, 'host') } : null,
      ...(row['held'] !== null && !isOwned ? { cutOff: true } : {}),
    };
  });
}
