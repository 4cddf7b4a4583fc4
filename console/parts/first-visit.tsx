/** Nothing has run here yet: what a run is, and how the first one comes to be. */
import { Link } from 'wouter';
import './styles/empty.css';

export function FirstVisit() {
  return (
    <section className="empty" aria-label="A first run">
      <h2>Nothing has run here yet</h2>
      <p>
        Choose <Link href="/agents">an agent</Link>, say what should be done, and watch it: every step becomes an event that you
        can come back to. On the command line the same is
      </p>
      <pre>troupe run AGENT "What should be done"</pre>
      <p>Without a key for a model, this plays a whole team at work:</p>
      <pre>npm run demo</pre>
    </section>
  );
}
