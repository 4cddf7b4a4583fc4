/** Who called whom in a session: as the files declare it, as it was run, and each agent once. */
import { useMemo } from 'react';
import type { AgentGraph } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { useAddresses, useQuery } from '../../app/query.ts';
import { LazyGraph } from '../../parts/graph/lazy-canvas.tsx';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { useLoaded } from '../../store/hooks.ts';
import './graph-view.css';
import { aggregatedGraph, declaredGraph, ranGraph, SHOWN_RUNS } from './graphs.ts';

const WAYS = [
  ['run', 'As run'],
  ['aggregated', 'Each agent once'],
  ['declared', 'As declared'],
] as const;

export function View({ params: { session = '' } }: ViewProps) {
  const query = useQuery();
  const way = query.get('way') ?? 'run';
  return (
    <SessionPage session={session} title="Graph" name="graph">
      {(shown) => (
        <>
          <fieldset className="choice">
            <legend className="unseen">What is drawn</legend>
            {WAYS.map(([name, words]) => (
              <button
                key={name}
                type="button"
                className="button"
                aria-pressed={way === name}
                onClick={() => query.set({ way: name === 'run' ? undefined : name })}
              >
                {words}
              </button>
            ))}
          </fieldset>
          {way === 'declared' ? (
            <Declared shown={shown} />
          ) : (
            <Ran shown={shown} session={session} isAggregated={way === 'aggregated'} />
          )}
        </>
      )}
    </SessionPage>
  );
}

interface RanProps {
  readonly shown: Shown;
  readonly session: string;
  readonly isAggregated: boolean;
}

function Ran({ shown: { fold, view }, session, isAggregated }: RanProps) {
  const { tree } = fold;
  const address = useAddresses();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the fold is changed in place; the version says that it was
  const graph = useMemo(
    () => (isAggregated ? aggregatedGraph(tree) : ranGraph(tree, (run) => address(`/sessions/${session}`, { run }))),
    [tree, tree.runs.size, view.version, isAggregated, session, address],
  );
  return (
    <>
      {!isAggregated && tree.runs.size > SHOWN_RUNS && (
        <p className="notice">
          The first {SHOWN_RUNS} of {tree.runs.size} runs are drawn; “Each agent once” has them all.
        </p>
      )}
      <LazyGraph graph={graph} label={isAggregated ? 'Agents, and who called whom how often' : 'Runs, and which began which'} />
    </>
  );
}

function Declared({ shown: { fold } }: { readonly shown: Shown }) {
  const { tree } = fold;
  const root = tree.runs.get(tree.roots.at(-1) ?? ('' as never));
  const graph = useLoaded<AgentGraph>('/agents/graph', { from: root?.agent });
  return (
    <LoadedView loaded={graph} what="what the files declare">
      {(declared) => <DeclaredGraph declared={declared} />}
    </LoadedView>
  );
}

function DeclaredGraph({ declared }: { readonly declared: AgentGraph }) {
  const graph = useMemo(() => declaredGraph(declared), [declared]);
  return <LazyGraph graph={graph} label="Agents, and whom their files name" />;
}
