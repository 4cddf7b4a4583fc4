/** Root runs by how they stand: at work, failed, done. */
import { Link } from 'wouter';
import { readableCost } from '../../../src/projections/readable.ts';
import type { RunRow } from '../../api/types.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { When } from '../../parts/when.tsx';
import { useRuns } from '../../store/hooks.ts';

const SECTIONS: readonly (readonly [string, ReadonlySet<RunRow['state']>])[] = [
  ['Running', new Set(['running', 'waiting', 'paused', 'parked', 'interrupted', 'lost'])],
  ['Failed', new Set(['failed', 'budget_exhausted', 'cancelled'])],
  ['Done', new Set(['completed', 'completed_unverified'])],
];
const SHOWN = 20;

export function RunSections() {
  const runs = useRuns();
  if (runs.state !== 'there') return null;
  const roots = runs.value.filter(({ parent }) => parent === null);
  return SECTIONS.map(([title, states]) => {
    const rows = roots.filter(({ state }) => states.has(state));
    if (rows.length === 0) return null;
    return (
      <section key={title} aria-label={title}>
        <h2 className="list-head">
          {title} <span className="quiet">{rows.length}</span>
        </h2>
        <ul>
          {rows.slice(0, SHOWN).map((row) => (
            <RunLine key={row.run} row={row} />
          ))}
        </ul>
      </section>
    );
  });
}

function RunLine({ row }: { readonly row: RunRow }) {
  const { error, cost } = row;
  return (
    <li>
      <Link className="list-row" href={`/sessions/${row.session}`}>
        <span className="list-line">
          <StateMark state={row.state} worth={row.verification} short />
          <strong className="cut">{row.agent}</strong>
          <span className="list-side quiet">
            {cost !== null && cost.nanoUsd > 0 && <>{readableCost(cost)} · </>}
            <When at={row.endedAt ?? row.startedAt} />
          </span>
        </span>
        {error !== null && <span className="list-line quiet cut">{error.message}</span>}
      </Link>
    </li>
  );
}
