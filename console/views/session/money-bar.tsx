/** One bar for money: settled solid, reserved hatched, the cap is its end. */
import { readableMoney } from '../../../src/projections/readable.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import type { SessionFold } from '../../store/session-fold.ts';

const NANO_PER_USD = 1_000_000_000;

export function MoneyBar({ fold, root }: { readonly fold: SessionFold; readonly root: RunNode }) {
  const cap = root.budget?.usd;
  const use = fold.budget.get(root.run);
  if (cap === undefined || use === undefined) return null;
  const all = cap * NANO_PER_USD;
  const words = `${readableMoney(use.spent.nanoUsd)} spent, ${readableMoney(use.reserved.nanoUsd)} reserved, of $${cap}`;
  return (
    <span className="money-bar" role="img" aria-label={words} title={words}>
      <span className="settled" style={{ width: `${share(use.spent.nanoUsd, all)}%` }} />
      <span className="reserved" style={{ width: `${share(use.reserved.nanoUsd, all)}%` }} />
    </span>
  );
}

const share = (part: number, all: number): number => (all <= 0 ? 0 : Math.min(100, (100 * part) / all));
