/** Processes that agents or clients have spawned: who, for whom, how they stand, their pid and age. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableDuration } from '../../../src/projections/readable.ts';
import type { AssistantRow } from '../../api/types.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import '../../parts/styles/table.css';
import { useLoaded, useNow } from '../../store/hooks.ts';
import { processWords } from '../messages/process-words.ts';

export function View() {
  const assistants = useLoaded<readonly AssistantRow[]>('/assistants');
  return (
    <>
      <header className="view-head">
        <h1>Assistants</h1>
      </header>
      <LoadedView loaded={assistants} what="the assistants">
        {(rows) => (rows.length === 0 ? <NoAssistants /> : <Rows rows={rows} />)}
      </LoadedView>
    </>
  );
}

function NoAssistants() {
  return (
    <div className="empty">
      <h2>No assistant was spawned yet</h2>
      <p>An assistant works beside whoever started it, and both can write to each other. An agent may spawn them with</p>
      <pre>tools: [spawn_assistant]</pre>
    </div>
  );
}

function Rows({ rows }: { readonly rows: readonly AssistantRow[] }) {
  const now = useNow();
  return (
    <section className="table-place" aria-label="Assistants">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Assistant</th>
            <th scope="col">Spawned by</th>
            <th scope="col" className="number">
              pid
            </th>
            <th scope="col" className="number">
              Age
            </th>
            <th scope="col" className="number">
              Exit
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ process, session, agent, spawnedBy, status, waits, pid, startedAt, finishedAt, exitCode }) => (
            <tr key={process}>
              <td>
                <span className={processWords(status).tone}>{processWords(status).words}</span>
                {waits > 0 && <span className="tone-waits"> ◐ waits for you</span>}
              </td>
              <td className="wide">
                <Link href={`/sessions/${session}/messages?run=${process}`}>{visibleText(agent)}</Link>
              </td>
              <td>{visibleText(spawnedBy)}</td>
              <td className="number">{pid ?? ''}</td>
              <td className="number">{readableDuration((finishedAt ?? now) - startedAt)}</td>
              <td className="number">{exitCode ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
