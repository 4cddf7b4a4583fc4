/** The iterations of a group: who was given what, what came of it, the score and which way it goes. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { GroupProgress, Iteration, WorkerProgress } from '../../../src/projections/patterns/group-progress.ts';
import { readableDuration } from '../../../src/projections/readable.ts';
import { useNow } from '../../store/hooks.ts';

const TRENDS = { improving: '↑ improving', stable: '→ stable', degrading: '↓ degrading' } as const;
const WORKERS: Readonly<Record<WorkerProgress['state'], string>> = {
  assigned: '◌ assigned',
  working: '● working',
  done: '✓ done',
  failed: '✗ failed',
};
const WHOLE = 100;

interface Props {
  readonly progress: GroupProgress;
  readonly session: string;
}

export function Iterations({ progress: { agent, iterations, phase, stop, summary }, session }: Props) {
  const hasScores = iterations.some(({ score }) => score !== null);
  return (
    <section className="section" aria-label={`Iterations of ${agent}`}>
      <div className="section-head">
        <h2>{hasScores ? 'Reflection' : 'Assignments'}</h2>
        <span className="quiet">
          {stop === null ? phase : `ended: ${stop.replaceAll('_', ' ')}`}
          {summary === null ? '' : `. ${summary}`}
        </span>
      </div>
      <table className="table" aria-label="Iterations">
        <thead>
          <tr>
            <th scope="col" className="number">
              #
            </th>
            <th scope="col">Assignments</th>
            {hasScores && <th scope="col">Score</th>}
            {hasScores && <th scope="col">Trend</th>}
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {iterations.map((one) => (
            <Row key={one.iteration} one={one} session={session} hasScores={hasScores} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly one: Iteration;
  readonly session: string;
  readonly hasScores: boolean;
}

function Row({ one, session, hasScores }: RowProps) {
  const { iteration, workers, score, trend, stalled, unknown, direct, startedAt, endedAt } = one;
  const now = useNow();
  return (
    <tr>
      <td className="number">{iteration}</td>
      <td className="wide">
        {direct && <span className="quiet">answered by the orchestrator itself</span>}
        <ul className="assignments">
          {workers.map(({ worker, task, run, state }) => (
            <li key={worker}>
              <span className={state === 'failed' ? 'tone-bad' : ''}>{WORKERS[state]}</span>
              {run === null ? <strong>{worker}</strong> : <Link href={`/sessions/${session}?run=${run}`}>{worker}</Link>}
              {task !== null && <span className="quiet">{visibleText(task)}</span>}
            </li>
          ))}
        </ul>
        {unknown.length > 0 && <span className="tone-waits">! nobody is called {visibleText(unknown.join(', '))}</span>}
        {stalled > 0 && <span className="tone-waits"> ! the same as before, {stalled} times</span>}
      </td>
      {hasScores && (
        <td>
          {score !== null && (
            <>
              <span className="score" aria-hidden="true">
                <span className="score-fill" style={{ width: `${Math.min(WHOLE, Math.max(0, score * WHOLE))}%` }} />
              </span>
              {score}
            </>
          )}
        </td>
      )}
      {hasScores && <td className="whole-words">{trend === null ? '' : TRENDS[trend]}</td>}
      <td className="whole-words">{readableDuration((endedAt ?? now) - startedAt)}</td>
    </tr>
  );
}
