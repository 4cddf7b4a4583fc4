/** A lane for each run: what it did when, and whom everybody waited for. Time in which nothing goes on is folded. */
import { useMemo } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableDuration } from '../../../src/projections/readable.ts';
import { type RunTree, subtree } from '../../../src/projections/run-tree.ts';
import type { Query } from '../../app/query.ts';
import { useNow } from '../../store/hooks.ts';
import { criticalPath, type LaneKind, lanesOf, type Stretch, scaleOf, type TimeScale } from '../../store/lanes.ts';
import type { SessionView } from '../../store/session.ts';
import type { Moment } from './moment.ts';

interface Props {
  readonly view: SessionView;
  readonly moment: Moment;
  readonly query: Query;
}

const WORDS: Readonly<Record<LaneKind, string>> = {
  model: 'asks a model',
  tool: 'runs a tool',
  human: 'waits for a person',
  quota: 'waits for a quota or an outage',
};
const SHOWN_RUNS = 200;
const SHOWN_PROMPTS = 200;
const SHOWN_STRETCHES = 400;
const SLOW_MS = 5_000;

export function Lanes({ view, moment, query }: Props) {
  const { fold, count } = moment;
  const now = useNow(SLOW_MS);
  const lanes = useMemo(() => lanesOf(view.history.events, count), [view.history, count]);
  // Of the prompt whose run was chosen, or of the newest.
  const roots = fold.tree.roots.flatMap((run) => fold.tree.runs.get(run) ?? []);
  const chosen = rootAbove(fold.tree, query.get('run'));
  const root = roots.find(({ run }) => run === chosen) ?? moment.root;
  if (root === undefined) return null;
  const until = root.endedAt ?? moment.time ?? now;
  const scale = scaleOf(lanes, root.startedAt, until);
  const path = criticalPath(fold.tree, root.run, until);
  const nodes = subtree(fold.tree, root.run).slice(0, SHOWN_RUNS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="lanes" aria-label="Lanes" tabIndex={0}>
      <Legend />
      {roots.length > 1 && (
        <label className="lane-prompt">
          <span className="quiet">Prompt </span>
          <select className="field" value={root.run} onChange={(event) => query.set({ run: event.target.value })}>
            {roots.slice(-SHOWN_PROMPTS).map(({ run, agent, startedAt }, index) => (
              <option key={run} value={run}>
                {Math.max(0, roots.length - SHOWN_PROMPTS) + index + 1}: {visibleText(agent)},{' '}
                {new Date(startedAt).toLocaleTimeString()}
              </option>
            ))}
          </select>
        </label>
      )}
      <ul>
        {nodes.map((node) => (
          <li key={node.run} className="lane">
            <span className="lane-name cut">{visibleText(node.member ?? node.agent)}</span>
            <span className="lane-track">
              <Piece className="alive" from={node.startedAt} to={node.endedAt ?? until} scale={scale} words="" />
              {(lanes.get(node.run) ?? []).slice(-SHOWN_STRETCHES).map((one) => (
                <StretchPiece
                  key={`${one.kind} ${one.position}`}
                  stretch={one}
                  until={until}
                  scale={scale}
                  choose={() => query.set({ event: String(one.position) })}
                />
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
  readonly choose: () => void;
}

/** Leads to the event that it began with. */
function StretchPiece({ stretch: { kind, from, to = undefined, position }, until, scale, choose }: StretchProps) {
  const end = to ?? until;
  const words = `${WORDS[kind]}, ${readableDuration(end - from)}, event ${position}`;
  return (
    <button
      type="button"
      className={`lane-piece ${kind}`}
      style={placeOf(scale, from, end)}
      title={words}
      aria-label={words}
      onClick={choose}
    />
  );
}

interface PieceProps {
  readonly className: string;
  readonly from: number;
  readonly to: number;
  readonly scale: TimeScale;
  readonly words: string;
}

function Piece({ className, from, to, scale, words }: PieceProps) {
  return <span className={`lane-piece ${className}`} style={placeOf(scale, from, to)} title={words} />;
}

function placeOf(scale: TimeScale, from: number, to: number) {
  const left = scale.at(from);
  const width = Math.max(0.001, scale.at(to) - left);
  return { left: `${left * 100}%`, width: `${width * 100}%` };
}

function rootAbove(tree: RunTree, run: string | undefined): string | undefined {
  let node = run === undefined ? undefined : tree.runs.get(run as RunId);
  while (node !== undefined && node.parent !== null) node = tree.runs.get(node.parent);
  return node?.run;
}
