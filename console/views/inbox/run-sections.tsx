/** Root runs by how they stand: at work, failed, done. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableCost } from '../../../src/projections/readable.ts';
import type { RunRow } from '../../api/types.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { When } from '../../parts/when.tsx';
import { useLoaded } from '../../store/hooks.ts';

/** With what the list of sessions calls the same. */
const SECTIONS: readonly (readonly [title: string, states: readonly RunRow['state'][], inList: string])[] = [
  ['Running', ['running', 'waiting', 'paused', 'parked', 'interrupted', 'lost'], 'running'],
  ['Failed', ['failed', 'budget_exhausted', 'cancelled'], 'failed,budget_exhausted'],
  ['Done', ['completed', 'completed_unverified'], 'completed,completed_unverified'],
];
const SHOWN = 20;

/** Each is asked for by itself: what runs for a week is not behind what was done since. */
export function RunSections() {
  return SECTIONS.map(([title, states, inList]) => (
    <RunSection key={title} title={title} states={states.join(',')} inList={inList} />
  ));
}

interface SectionProps {
  readonly title: string;
  readonly states: string;
  readonly inList: string;
}

function RunSection({ title, states, inList }: SectionProps) {
  const runs = useLoaded<readonly RunRow[]>('/runs', { limit: SHOWN, states });
  if (runs.state !== 'there') return null;
  const rows = runs.value.filter(({ depth }) => depth === 0);
  if (rows.length === 0) return null;
  const isAll = rows.length < SHOWN;
  return (
    <section aria-label={title}>
      <h2 className="list-head">
        {title} <span className="quiet">{isAll ? rows.length : `the newest ${rows.length}`}</span>
      </h2>
      <ul>
        {rows.map((row) => (
          <RunLine key={row.run} row={row} />
        ))}
      </ul>
      {!isAll && (
        <Link className="list-more" href={`/sessions?state=${encodeURIComponent(inList)}`}>
          All sessions that stand so
        </Link>
      )}
    </section>
  );
}

function RunLine({ row }: { readonly row: RunRow }) {
  const { error, cost } = row;
  return (
    <li>
      <Link className="list-row" href={`/sessions/${row.session}`}>
        <span className="list-line">
          <StateMark state={row.state} worth={row.verification} short />
          <strong className="cut">{visibleText(row.agent)}</strong>
          <span className="list-side quiet">
            {cost !== null && cost.nanoUsd > 0 && <>{readableCost(cost)} · </>}
            <When at={row.endedAt ?? row.startedAt} />
          </span>
        </span>
        {error !== null && <span className="list-line quiet cut">{visibleText(error.message)}</span>}
      </Link>
    </li>
  );
}
