/** Nobody needs anything: where things come from. */
import { Link } from 'wouter';
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
  return (
    <div className="empty">
      <h2>Nothing has run here yet</h2>
      <p>Make an agent, and give it something to do; it appears here at once:</p>
      <pre>troupe init{'\n'}troupe run hello "What is in this folder?"</pre>
      <p>Or see a whole team at work, without a key:</p>
      <pre>troupe demo</pre>
    </div>
  );
}
