/** What needs you, and then what runs. */
import { Link } from 'wouter';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { When } from '../../parts/when.tsx';
import { useInbox, useRuns } from '../../store/hooks.ts';

export function View() {
  const inbox = useInbox();
  const runs = useRuns();
  return (
    <>
      <header className="view-head">
        <h1>Inbox</h1>
      </header>
      <LoadedView loaded={inbox} what="what waits for you">
        {(items) => (
          <ul className="view-body">
            {items.map((item) => (
              <li key={`${item.run} ${item.wait}`}>
                <Link href={`/answer/${item.run}/${encodeURIComponent(item.wait)}`}>{item.question}</Link>{' '}
                <When at={item.askedAt} />
              </li>
            ))}
            {runs.state === 'there' &&
              runs.value.map((row) => (
                <li key={row.run}>
                  <StateMark state={row.state} worth={row.verification} />{' '}
                  <Link href={`/sessions/${row.session}`}>{row.agent}</Link>
                </li>
              ))}
          </ul>
        )}
      </LoadedView>
    </>
  );
}
