/** The tree of runs: who works for whom, and how each stands. */
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableCost, readableDuration } from '../../../src/projections/readable.ts';
import { type Activity, activityOf, type RunNode, type RunTree, subtree } from '../../../src/projections/run-tree.ts';
import { hueOf } from '../../parts/hue.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { useNow } from '../../store/hooks.ts';
import { AtThatMoment } from './at-that-moment.tsx';
import type { Moment } from './moment.ts';

interface Props {
  readonly session: string;
  readonly moment: Moment;
  readonly chosen: string | undefined;
  readonly choose: (run: string | undefined) => void;
}

/** Of the newest roots; a long conversation has many. */
const SHOWN_RUNS = 500;

export function RunTreePane({ session, moment, chosen, choose }: Props) {
  const { tree } = moment.fold;
  const now = useNow();
  const rows = rowsOf(tree);
  return (
    <nav className="run-tree" aria-label="Runs">
      <h2 className="list-head">
        Runs <span className="quiet">{tree.runs.size}</span>
      </h2>
      <ul>
        {rows.slice(-SHOWN_RUNS).map(({ node, depth }) => (
          <li key={node.run}>
            <button
              type="button"
              className="run-row"
              style={{ paddingLeft: 8 + depth * 14 }}
              aria-pressed={node.run === chosen}
              onClick={() => choose(node.run === chosen ? undefined : node.run)}
            >
              <span className="run-line">
                <span className="agent-bar" style={{ background: `oklch(62% 0.09 ${hueOf(node.agent)})` }} aria-hidden="true" />
                <StateMark state={node.state} worth={node.verification?.state} short />
                <span className="cut">{visibleText(node.member ?? node.agent)}</span>
                {node.role !== null && <span className="quiet cut">{node.role}</span>}
                <span className="list-side quiet">{node.spent.nanoUsd > 0 ? readableCost(node.spent) : ''}</span>
              </span>
              {node.endedAt === null && (
                <span className="run-line quiet cut">{visibleText(doingWords(activityOf(node, moment.time ?? now)))}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
      <AtThatMoment session={session} moment={moment} />
    </nav>
  );
}

interface Row {
  readonly node: RunNode;
  readonly depth: number;
}

function rowsOf(tree: RunTree): readonly Row[] {
  const depths = new Map<string, number>();
  return tree.roots.flatMap((root) =>
    subtree(tree, root).map((node) => {
      const depth = node.parent === null ? 0 : (depths.get(node.parent) ?? 0) + 1;
      depths.set(node.run, depth);
      return { node, depth };
    }),
  );
}

function doingWords(activity: Activity): string {
  switch (activity.kind) {
    case 'asking':
      return `asking ${activity.model} for ${readableDuration(activity.forMs)}`;
    case 'outage':
      return `${activity.model} cannot be asked; again in ${readableDuration(activity.inMs)}`;
    case 'tools':
      return `running ${activity.names.join(', ')} for ${readableDuration(activity.forMs)}`;
    case 'waiting':
      return 'waits for you';
    default:
      return activity.kind;
  }
}
