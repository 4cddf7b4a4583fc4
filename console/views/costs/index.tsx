/** What everything has cost: by day, by agent, by model, by session. */

import { useMemo } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import { addSpending } from '../../../src/projections/costs.ts';
import { readableCost, readableCount, readableMoney } from '../../../src/projections/readable.ts';
import type { CostReport } from '../../api/types.ts';
import { CostTable, rowsBy } from '../../parts/cost-table.tsx';
import { LazyChart } from '../../parts/lazy-chart.tsx';
import { LoadedView } from '../../parts/loaded-view.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import { useLoaded, useSessions } from '../../store/hooks.ts';

export function View() {
  const costs = useLoaded<CostReport>('/costs');
  return (
    <>
      <header className="view-head">
        <h1>Costs</h1>
      </header>
      <LoadedView loaded={costs} what="the costs">
        {(report) => (report.total.calls === 0 ? <NothingSpent /> : <Report report={report} />)}
      </LoadedView>
    </>
  );
}

function NothingSpent() {
  return (
    <div className="empty">
      <h2>Nothing was spent yet</h2>
      <p>Each call of a model has its price in the ledger. The first ones come with a run:</p>
      <pre>troupe run AGENT "What should be done" --budget-usd 0.50</pre>
    </div>
  );
}

function Report({ report: { lines, total, days, sessions, inDoubt } }: { readonly report: CostReport }) {
  const agents = useMemo(() => rowsBy(lines, ({ agent }) => agent, addSpending), [lines]);
  const models = useMemo(() => rowsBy(lines, ({ model }) => model, addSpending), [lines]);
  return (
    <div className="view-body column">
      <section className="section" aria-label="In all">
        <p className="total-line">{readableCost(total)}</p>
        <p className="quiet">
          {counted(total.calls, 'call')} in {counted(sessions, 'session')}, {readableCount(total.inputTokens)} tokens in,{' '}
          {readableCount(total.outputTokens)} out.
          {inDoubt.calls > 0 &&
            ` ${counted(inDoubt.calls, 'call')} cut off: ${readableMoney(inDoubt.nanoUsd)} counted in full, perhaps not billed.`}
        </p>
      </section>
      <Days days={days} />
      <section className="section">
        <h2>By agent</h2>
        <CostTable label="Costs by agent" what="Agent" rows={agents} />
      </section>
      <section className="section">
        <h2>By model</h2>
        <CostTable label="Costs by model" what="Model" rows={models} />
      </section>
      <Sessions />
    </div>
  );
}

const DAY_MS = 86_400_000;

function Days({ days }: { readonly days: CostReport['days'] }) {
  const drawn = useMemo(() => {
    let sum = 0;
    const sums = days.map(({ nanoUsd }) => {
      sum += nanoUsd;
      return sum;
    });
    const times = days.map(({ day }) => (Date.parse(day) + DAY_MS / 2) / 1_000);
    const lines = [
      { name: 'on the day', colour: '--accent', values: days.map(({ nanoUsd }) => nanoUsd) },
      { name: 'in all', colour: '--quiet', values: sums, isDashed: true },
    ];
    return { times, lines };
  }, [days]);
  const rows = days.toReversed().map(({ day, ...spent }) => ({ key: day, name: day, ...spent }));
  return (
    <section className="section">
      <h2>By day</h2>
      {days.length > 1 && (
        <LazyChart label="Costs of each day; the table below has the figures" {...drawn} text={readableMoney} />
      )}
      <CostTable label="Costs by day" what="Day (UTC)" rows={rows} />
    </section>
  );
}

const DEAREST = 20;

function Sessions() {
  const sessions = useSessions();
  if (sessions.state !== 'there') return null;
  const dearest = sessions.value
    .flatMap(({ cost, ...row }) => (cost === null ? [] : [{ ...row, cost }]))
    .sort((left, right) => right.cost.nanoUsd - left.cost.nanoUsd)
    .slice(0, DEAREST);
  return (
    <section className="section">
      <h2>The dearest of the newest sessions</h2>
      <table className="table" aria-label="Costs by session">
        <thead>
          <tr>
            <th scope="col">Prompt</th>
            <th scope="col">Agent</th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {dearest.map(({ session, prompt, agent, group, cost }) => (
            <tr key={session}>
              <td className="wide">
                <Link href={`/sessions/${session}/costs`}>{visibleText(prompt ?? session)}</Link>
              </td>
              <td>{visibleText(group ?? agent)}</td>
              <td className="number">{readableCost(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
