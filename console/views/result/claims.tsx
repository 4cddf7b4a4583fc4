/** What the answer claims, each with the event that backs it, or why nothing does. */
import { visibleText } from '../../../src/base/visible-text.ts';
import type { EventOf, LedgerEvent } from '../../../src/events/envelope.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { EventLink } from '../../parts/event-link.tsx';
import type { Shown } from '../../parts/session-page.tsx';

interface Props {
  readonly node: RunNode;
  readonly shown: Shown;
}

type Checked = EventOf<'evidence.checked'>;

export function Claims({ node, shown: { view, events } }: Props) {
  const of = node.finalRun ?? node.run;
  const checked = events.findLast(
    (event: LedgerEvent): event is Checked =>
      event.event_type === 'evidence.checked' && (event.run_id === of || event.run_id === node.run),
  );
  if (checked === undefined) return null;
  const { claims, demanded = [] } = checked.payload;
  if (claims.length + demanded.length === 0) return null;
  return (
    <section className="claims" aria-label="Claims and evidence">
      <h3>Claims and what backs them</h3>
      <ul>
        {claims.map(({ claim, backed, by, why }) => {
          const what = claim.kind === 'file' ? claim.path : claim.command;
          return (
            <li key={`${claim.kind} ${what}`} className={backed ? 'backed' : 'open'}>
              <span aria-hidden="true">{backed ? '✓' : '!'}</span>
              <code>{visibleText(what)}</code>
              <span>{visibleText(backed ? why : `unverified: ${why}`)}</span>
              {by !== undefined && <EventLink session={view.session} event={by} />}
            </li>
          );
        })}
        {demanded.map(({ command, passed, why }) => (
          <li key={`demanded ${command}`} className={passed ? 'backed' : 'open'}>
            <span aria-hidden="true">{passed ? '✓' : '!'}</span>
            <code>{visibleText(command)}</code>
            <span>{visibleText(passed ? 'demanded, and it passed' : `demanded: ${why ?? 'it did not pass'}`)}</span>
            <EventLink session={view.session} event={checked.position} />
          </li>
        ))}
      </ul>
    </section>
  );
}
