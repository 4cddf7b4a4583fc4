/** What a session has cost, by agent, model and subtree; how its budget went down, and more of it. */

import { useMemo } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import type { BudgetUse } from '../../../src/projections/budget.ts';
import { addSpending, costLines } from '../../../src/projections/costs.ts';
import { readableCost } from '../../../src/projections/readable.ts';
import { type RunNode, subtree, subtreeSpending } from '../../../src/projections/run-tree.ts';
import { isFile } from '../../api/kept.ts';
import type { ViewProps } from '../../app/places.ts';
import { CostTable, rowsBy } from '../../parts/cost-table.tsx';
import { RunLink } from '../../parts/event-link.tsx';
import { LazyChart } from '../../parts/lazy-chart.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import '../../parts/styles/empty.css';
import { type Bound, boundsOf, burnDown, usedWords } from './burn-down.ts';
import './cost.css';
import { RaiseForm } from './raise-form.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Costs" name="cost">
      {(shown) => <Spent shown={shown} />}
    </SessionPage>
  );
}

function Spent({ shown }: { readonly shown: Shown }) {
  const { costs, tree } = shown.fold;
  const roots = tree.roots.flatMap((run) => tree.runs.get(run) ?? []).toReversed();
  if (costs.total.calls === 0 && roots.every(({ budget }) => budget === null))
    return (
      <div className="empty">
        <h2>Nothing was spent in this session yet</h2>
        <p>A budget for a run is given when it starts:</p>
        <pre>troupe run AGENT "…" --budget-usd 0.50</pre>
      </div>
    );
  const lines = costLines(costs);
  return (
    <div className="view-body column">
      <section className="section" aria-label="In all">
        <p className="total-line">{readableCost(costs.total)}</p>
      </section>
      {roots.map((root) => (
        <Root key={root.run} root={root} shown={shown} />
      ))}
      <section className="section">
        <h2>By agent</h2>
        <CostTable label="Costs by agent" what="Agent" rows={rowsBy(lines, ({ agent }) => agent, addSpending)} />
      </section>
      <section className="section">
        <h2>By model</h2>
        <CostTable label="Costs by model" what="Model" rows={rowsBy(lines, ({ model }) => model, addSpending)} />
      </section>
    </div>
  );
}

interface RootProps {
  readonly root: RunNode;
  readonly shown: Shown;
}

function Root({ root, shown: { view, fold, events, isNow } }: RootProps) {
  const use = fold.budget.get(root.run);
  const bounds = boundsOf(root.budget);
  const unknown = use?.unknownPrices ?? 0;
  return (
    <section className="section" aria-label={`Budget of ${root.agent}`}>
      <div className="section-head">
        <h2>{visibleText(root.agent)}</h2>
        <StateMark state={root.state} worth={root.verification?.state} />
        <span>{readableCost(subtreeSpending(fold.tree, root.run))} with all below it</span>
      </div>
      {bounds.map((bound) => (
        <Bounded key={bound.name} bound={bound} root={root} use={use} events={events} isNow={isNow} />
      ))}
      {bounds.some(({ name }) => name === 'usd') && unknown > 0 && (
        <p className="tone-waits">! {counted(unknown, 'call')} without a known price: the money holds nothing for them.</p>
      )}
      <Subtree root={root} fold={fold} session={view.session} />
    </section>
  );
}

interface BoundedProps extends Pick<Shown, 'events' | 'isNow'> {
  readonly bound: Bound;
  readonly root: RunNode;
  readonly use: BudgetUse | undefined;
}

function Bounded({ bound, root, use, events, isNow }: BoundedProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a bound is known by its name and its cap
  const drawn = useMemo(() => burnDown(events, root.run, bound), [events, root.run, bound.name, bound.cap]);
  return (
    <>
      <p>
        <strong>{bound.title}</strong>: {usedWords(bound, use)}
      </p>
      {drawn !== undefined && (
        <LazyChart
          label={`${bound.title} that ${root.agent} had left, over time; the figures are above`}
          {...drawn}
          text={bound.text}
        />
      )}
      {isNow && !isFile() && root.state !== 'completed' && <RaiseForm root={root} bound={bound} />}
    </>
  );
}

const INDENT = 16;

interface SubtreeProps extends Pick<Shown, 'fold'> {
  readonly root: RunNode;
  readonly session: string;
}

/** Each run with everything below it, as the tree has them. */
function Subtree({ root, fold: { tree }, session }: SubtreeProps) {
  const depths = new Map<string, number>([[root.run, 0]]);
  const nodes = subtree(tree, root.run);
  for (const { run, parent } of nodes) if (run !== root.run) depths.set(run, (depths.get(parent ?? '') ?? 0) + 1);
  if (nodes.length < 2) return null;
  const rows = nodes.map(({ run, agent, role }) => ({
    key: run,
    name: (
      <span style={{ paddingLeft: (depths.get(run) ?? 0) * INDENT }}>
        <RunLink session={session} run={run}>
          {visibleText(agent)}
        </RunLink>{' '}
        {role !== null && <span className="quiet">{role}</span>}
      </span>
    ),
    ...subtreeSpending(tree, run),
  }));
  return <CostTable label={`Costs of ${root.agent} and everything below it`} what="Run, with all below it" rows={rows} />;
}
