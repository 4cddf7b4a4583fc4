/** A lane for each run: what it did when, and whom everybody waited for. Time in which nothing goes on is folded. */
import { useMemo } from 'react';
import { readableDuration } from '../../../src/projections/readable.ts';
import { subtree } from '../../../src/projections/run-tree.ts';
import { useNow } from '../../store/hooks.ts';
import { criticalPath, type LaneKind, lanesOf, type Stretch, scaleOf, type TimeScale } from '../../store/lanes.ts';
import type { SessionView } from '../../store/session.ts';
import type { Moment } from './moment.ts';

interface Props {
  readonly view: SessionView;
  readonly moment: Moment;
}

const WORDS: Readonly<Record<LaneKind, string>> = {
  model: 'asks a model',
  tool: 'runs a tool',
  human: 'waits for a person',
  quota: 'waits for a quota or an outage',
};
const SHOWN_RUNS = 200;
const SHOWN_STRETCHES = 400;
const SLOW_MS = 5_000;

export function Lanes({ view, moment }: Props) {
  const { root, fold, count } = moment;
  const now = useNow(SLOW_MS);
  const lanes = useMemo(() => lanesOf(view.history.events, count), [view.history, count]);
  if (root === undefined) return null;
  const until = root.endedAt ?? moment.time ?? now;
  const scale = scaleOf(lanes, root.startedAt, until);
  const path = criticalPath(fold.tree, root.run, until);
  const nodes = subtree(fold.tree, root.run).slice(0, SHOWN_RUNS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="lanes" aria-label="Lanes" tabIndex={0}>
      <Legend />
      <ul>
        {nodes.map((node) => (
          <li key={node.run} className="lane">
            <span className="lane-name cut">{node.member ?? node.agent}</span>
            <span className="lane-track">
              <Piece className="alive" from={node.startedAt} to={node.endedAt ?? until} scale={scale} words="" />
              {(lanes.get(node.run) ?? []).slice(-SHOWN_STRETCHES).map((one) => (
                <StretchPiece key={`${one.kind} ${one.position}`} stretch={one} until={until} scale={scale} />
              ))}
              {path
                .filter(({ run }) => run === node.run)
                .map(({ from, to }) => (
                  <Piece key={from} className="critical" from={from} to={to} scale={scale} words="the others wait for this" />
                ))}
            </span>
          </li>
        ))}
      </ul>
      {scale.folded.length > 0 && (
        <p className="quiet">
          Folded: {scale.folded.map(({ from, to }) => readableDuration(to - from)).join(', ')} in which no model and no tool was
          at work.
        </p>
      )}
    </section>
  );
}

function Legend() {
  return (
    <p className="lane-legend quiet">
      {Object.entries(WORDS).map(([kind, word]) => (
        <span key={kind}>
          <span className={`lane-key ${kind}`} aria-hidden="true" /> {word}
        </span>
      ))}
      <span>
        <span className="lane-key critical" aria-hidden="true" /> critical path
      </span>
    </p>
  );
}

interface StretchProps {
  readonly stretch: Stretch;
  readonly until: number;
  readonly scale: TimeScale;
}

function StretchPiece({ stretch: { kind, from, to = undefined }, until, scale }: StretchProps) {
  const end = to ?? until;
  return <Piece className={kind} from={from} to={end} scale={scale} words={`${WORDS[kind]}, ${readableDuration(end - from)}`} />;
}

interface PieceProps {
  readonly className: string;
  readonly from: number;
  readonly to: number;
  readonly scale: TimeScale;
  readonly words: string;
}

function Piece({ className, from, to, scale, words }: PieceProps) {
  const left = scale.at(from);
  const width = Math.max(0.001, scale.at(to) - left);
  return (
    <span className={`lane-piece ${className}`} style={{ left: `${left * 100}%`, width: `${width * 100}%` }} title={words} />
  );
}
