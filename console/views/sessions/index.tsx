/** Conversations, newest first. */
import { Link } from 'wouter';
import { readableCost } from '../../../src/projections/readable.ts';
import type { SessionRow } from '../../api/types.ts';
import { shortened } from '../../parts/ids.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/table.css';
import { When } from '../../parts/when.tsx';
import { useSessions } from '../../store/hooks.ts';

export function View() {
  const sessions = useSessions();
  return (
    <>
      <header className="view-head">
        <h1>Sessions</h1>
      </header>
      <LoadedView loaded={sessions} what="the list of sessions">
        {(rows) => (rows.length === 0 ? <NoSessions /> : <SessionTable rows={rows} />)}
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

function SessionTable({ rows }: { readonly rows: readonly SessionRow[] }) {
  return (
    <section className="table-place" aria-label="Sessions">
      <table className="table">
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
                <StateMark state={row.state} />
              </td>
              <td className="wide">
                <Link href={`/sessions/${row.session}`}>{row.prompt ?? '(its events are gone)'}</Link>
              </td>
              <td>{row.group ?? row.agent}</td>
              <td className="number">{row.prompts}</td>
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
    </section>
  );
}
