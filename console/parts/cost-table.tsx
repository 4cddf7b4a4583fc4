/** What was spent, line by line; the dearest has the longest bar. */

import type { ReactNode } from 'react';
import { visibleText } from '../../src/base/visible-text.ts';
import type { CallCosts } from '../../src/projections/costs.ts';
import { readableCost, readableCount } from '../../src/projections/readable.ts';
import './styles/cost-table.css';
import './styles/table.css';

export interface CostRow extends CallCosts {
  readonly key: string;
  readonly name: ReactNode;
}

interface Props {
  readonly label: string;
  /** What the rows are: agents, models, days. */
  readonly what: string;
  readonly rows: readonly CostRow[];
}

export function CostTable({ label, what, rows }: Props) {
  const most = Math.max(1, ...rows.map(({ nanoUsd }) => nanoUsd));
  return (
    <table className="table cost-table" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col" className="number">
            Calls
          </th>
          <th scope="col" className="number">
            In
          </th>
          <th scope="col" className="number">
            Cached
          </th>
          <th scope="col" className="number">
            Out
          </th>
          <th scope="col" className="number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <td className="wide">
              {row.name}
              <span className="cost-bar" aria-hidden="true" style={{ width: `${(100 * row.nanoUsd) / most}%` }} />
            </td>
            <td className="number">{row.calls}</td>
            <td className="number">{readableCount(row.inputTokens)}</td>
            <td className="number">{readableCount(row.cacheReadTokens)}</td>
            <td className="number">{readableCount(row.outputTokens)}</td>
            <td className="number">{readableCost(row)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Lines with the same name are one. */
export function rowsBy<Line extends CallCosts>(
  lines: readonly Line[],
  nameOf: (line: Line) => string,
  add: (left: CallCosts, right: CallCosts) => CallCosts,
): readonly CostRow[] {
  const groups = Map.groupBy(lines, nameOf);
  return [...groups]
    .map(([name, [first, ...more]]) => ({ key: name, name: visibleText(name), ...more.reduce(add, first as CallCosts) }))
    .sort((left, right) => right.nanoUsd - left.nanoUsd || (left.key < right.key ? -1 : 1));
}
