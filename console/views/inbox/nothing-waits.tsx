/** Nobody needs anything: where things come from. */
import { Link } from 'wouter';
import { FirstVisit } from '../../parts/first-visit.tsx';
import '../../parts/styles/empty.css';
import { useSessions } from '../../store/hooks.ts';

export function NothingWaits() {
  const sessions = useSessions();
  const isNew = sessions.state === 'there' && sessions.value.length === 0;
  if (!isNew)
    return (
      <div className="empty">
        <h2>Nothing waits for you</h2>
        <p>
          What an agent may not do by itself, and what it asks, appears here, from any depth of any run.{' '}
          <Link href="/sessions">All sessions</Link>
        </p>
      </div>
    );
  return <FirstVisit />;
}
