/** Conversations, newest first: all, or those that stand as one is looking for; page by page. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableCost } from '../../../src/projections/readable.ts';
import type { SessionRow } from '../../api/types.ts';
import { type Query, useQuery } from '../../app/query.ts';
import { shortened } from '../../parts/ids.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/table.css';
import { When } from '../../parts/when.tsx';
import { useLoaded } from '../../store/hooks.ts';
import './sessions.css';

/** What can be looked for, in the words of the states; the address has the states themselves. */
const STATES = [
  ['running', 'running'],
  ['waiting', 'waits for you'],
  ['paused,parked,interrupted,lost', 'stands still'],
  ['failed,budget_exhausted', 'failed'],
  ['cancelled', 'cancelled'],
  ['completed,completed_unverified', 'completed'],
] as const;
const PAGE = 100;

export function View() {
  const query = useQuery();
  const wanted = query.get('state');
  const states = STATES.find(([value]) => value === wanted)?.[0];
  const before = query.get('before');
  const sessions = useLoaded<readonly SessionRow[]>('/sessions', { limit: PAGE, before, states });
  return (
    <>
      <header className="view-head">
        <h1>Sessions</h1>
        <select
          className="field head-choice"
          aria-label="How they stand"
          value={states ?? ''}
          onChange={(event) => query.set({ state: event.target.value, before: undefined })}
        >
          <option value="">all</option>
          {STATES.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </header>
      <LoadedView loaded={sessions} what="the list of sessions">
        {(rows) =>
          rows.length > 0 ? (
            <SessionTable rows={rows} query={query} />
          ) : states === undefined && before === undefined ? (
            <NoSessions />
          ) : (
            <NoneOfThese query={query} />
          )
        }
      </LoadedView>
    </>
  );
}

function NoSessions() {
  return (
    <div className="empty">
      <h2>Nothing has run here yet</h2>
      <p>A session begins when an agent is given a prompt:</p>
      <pre>troupe run AGENT "What should be done"</pre>
    </div>
  );
}

function NoneOfThese({ query }: { readonly query: Query }) {
  return (
    <div className="empty">
      <h2>No session stands so</h2>
      <button type="button" className="button" onClick={() => query.set({ state: undefined, before: undefined })}>
        Show all
      </button>
    </div>
  );
}

/** A page has an address of its own: what is read there does not move when something new begins. */
function Pages({ rows, query }: { readonly rows: readonly SessionRow[]; readonly query: Query }) {
  const last = rows.length < PAGE ? undefined : rows.at(-1)?.newestRun;
  const isFirst = query.get('before') === undefined;
  if (last === undefined && isFirst) return null;
  return (
    <nav className="pages" aria-label="Pages">
      {!isFirst && (
        <button type="button" className="button" onClick={() => query.set({ before: undefined })}>
          Show the newest
        </button>
      )}
      {last !== undefined && (
        <button type="button" className="button" onClick={() => query.set({ before: last })}>
          Show earlier ones
        </button>
      )}
    </nav>
  );
}

function SessionTable({ rows, query }: { readonly rows: readonly SessionRow[]; readonly query: Query }) {
  return (
    <section className="table-place" aria-label="Sessions">
      <table className="table cards">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Prompt</th>
            <th scope="col">Agent</th>
            <th scope="col" className="number">
              Prompts
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col">Last</th>
            <th scope="col">Session</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.session}>
              <td>
                <StateMark state={row.state} worth={row.verification} />
              </td>
              <td className="wide">
                <Link href={`/sessions/${row.session}`}>{visibleText(row.prompt ?? '(its events are gone)')}</Link>
              </td>
              <td>{visibleText(row.group ?? row.agent)}</td>
              <td className="number prompts">{row.prompts}</td>
              <td className="number">{row.cost === null ? '' : readableCost(row.cost)}</td>
              <td>
                <When at={row.lastAt} />
              </td>
              <td>
                <code>{shortened(row.session)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Pages rows={rows} query={query} />
    </section>
  );
}
