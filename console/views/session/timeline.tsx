/** Every event as a line in plain words: the same words as the terminal's. */
import { useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import type { Query } from '../../app/query.ts';
import { Rows } from '../../parts/rows.tsx';
import type { SessionView } from '../../store/session.ts';
import { eventKinds, foundInside, patternOf, useFiltered } from './filtered.ts';
import type { Moment } from './moment.ts';
import { TimelineBar, type TimelineMode } from './timeline-bar.tsx';
import { TimelineRow } from './timeline-row.tsx';

interface Props {
  readonly view: SessionView;
  readonly moment: Moment;
  readonly query: Query;
}

const MODES: readonly TimelineMode[] = ['compact', 'full', 'raw'];

export function Timeline({ view, moment, query }: Props) {
  const { lines, events } = view.history;
  const mode = MODES.find((one) => one === query.get('mode')) ?? 'compact';
  const text = query.get('find') ?? '';
  const pattern = text === '' ? undefined : patternOf(text);
  // Whoever looks for something looks everywhere.
  const kind = eventKinds.find((one) => one === query.get('kind'));
  const agent = query.get('agent');
  const isEverything = mode !== 'compact' || pattern !== undefined || kind !== undefined;
  const level = query.get('level');
  const least = level === 'trouble' ? 'warn' : level === 'errors' ? 'error' : isEverything ? 'detail' : 'info';
  const indices = useFiltered(view.history, moment.count, { run: query.get('run'), least, text, kind, agent }, moment.fold.tree);
  const [behind, setBehind] = useState(0);
  const [jump, setJump] = useState(0);
  const event = Number(query.get('event') ?? Number.NaN);
  const chosen = Number.isNaN(event) ? undefined : indices.findIndex((index) => events[index]?.position === event);
  const step = (by: 1 | -1) => {
    const next = indices[chosen === undefined || chosen < 0 ? indices.length - 1 : chosen + by];
    const position = next === undefined ? undefined : events[next]?.position;
    if (position !== undefined) query.set({ event: String(position) });
  };
  useKeys({ j: () => step(1), k: () => step(-1), r: () => query.set({ mode: mode === 'raw' ? undefined : 'raw' }) });
  const began = Date.parse(events[0]?.timestamp ?? '');
  return (
    <>
      <TimelineBar query={query} mode={mode} agents={agentsIn(moment)} found={indices.length} all={moment.count} />
      <Rows
        key={jump}
        count={indices.length}
        label="Events"
        follows={moment.isNow}
        chosen={chosen}
        onBehind={setBehind}
        row={(index) => {
          const at = indices[index] ?? 0;
          const [line, one] = [lines[at], events[at]];
          if (line === undefined || one === undefined) return null;
          return (
            <TimelineRow
              key={one.position}
              line={line}
              event={one}
              inside={pattern === undefined ? undefined : foundInside(line, one, pattern)}
              began={began}
              isRaw={mode === 'raw'}
              isChosen={one.position === event}
              choose={() => query.set({ event: one.position === event ? undefined : String(one.position) })}
            />
          );
        }}
      />
      {behind > 0 && moment.isNow && (
        <button type="button" className="button behind" onClick={() => setJump(jump + 1)}>
          ↓ {behind} behind
        </button>
      )}
    </>
  );
}

const agentsIn = ({ fold }: Moment): readonly string[] =>
  [...new Set([...fold.tree.runs.values()].map(({ agent }) => agent))].toSorted();
