/** One session: its runs, every event of it, and any moment of it. */
import { useState } from 'react';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { Awaited } from '../../parts/awaited.tsx';
import { Scrubber } from '../../parts/scrubber/scrubber.tsx';
import { SessionTabs } from '../../parts/session-tabs.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useSession } from '../../store/hooks.ts';
import { Inspector } from './inspector.tsx';
import { Lanes } from './lanes.tsx';
import { LiveWords } from './live-words.tsx';
import { Liveness } from './liveness.tsx';
import { momentOf } from './moment.ts';
import { PromptBox } from './prompt-box.tsx';
import { RunTreePane } from './run-tree.tsx';
import { SessionHead } from './session-head.tsx';
import '../../parts/styles/list.css';
import './session.css';
import { Timeline } from './timeline.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  const view = useSession(session);
  const query = useQuery();
  const [dragged, setDragged] = useState<number>();
  const named = Number(query.get('at') ?? Number.NaN);
  const at = dragged ?? (Number.isInteger(named) && named > 0 ? named : undefined);
  if (view.link.state === 'refused') return <Trouble what={view.link.refusal.message} fix={view.link.refusal.fix} />;
  if (view.count === 0) return <Awaited what="the first events of the session" />;
  const moment = momentOf(view, at);
  const move = (to: number | undefined, isDone: boolean) => {
    setDragged(isDone ? undefined : to);
    if (isDone) query.set({ at: to === undefined ? undefined : String(to) });
  };
  const event = Number(query.get('event') ?? Number.NaN);
  const shows = query.get('show') === 'lanes' ? 'lanes' : 'timeline';
  return (
    <>
      <header className="view-head session-top">
        <SessionHead view={view} moment={moment} />
        <SessionTabs session={session} current="session" />
      </header>
      <Scrubber view={view} count={moment.count} isNow={moment.isNow} move={move} />
      <div className={Number.isNaN(event) ? 'session-panes' : 'session-panes inspected'}>
        <RunTreePane session={session} moment={moment} chosen={query.get('run')} choose={(run) => query.set({ run })} />
        <section className="session-main" aria-label="What happened">
          <div className="session-bar">
            <Shown shows={shows} show={(show) => query.set({ show })} />
            <Liveness view={view} moment={moment} toNow={() => move(undefined, true)} />
          </div>
          {shows === 'lanes' ? (
            <Lanes view={view} moment={moment} query={query} />
          ) : (
            <Timeline view={view} moment={moment} query={query} />
          )}
          <LiveWords view={view} moment={moment} />
          <PromptBox session={session} moment={moment} run={query.get('run')} />
        </section>
        {!Number.isNaN(event) && <Inspector view={view} position={event} query={query} />}
      </div>
    </>
  );
}

interface ShownProps {
  readonly shows: 'lanes' | 'timeline';
  readonly show: (show: string | undefined) => void;
}

function Shown({ shows, show }: ShownProps) {
  return (
    <fieldset className="segments">
      <legend className="unseen">How it is shown</legend>
      {(['timeline', 'lanes'] as const).map((one) => (
        <button key={one} type="button" aria-pressed={one === shows} onClick={() => show(one === 'timeline' ? undefined : one)}>
          {one === 'timeline' ? 'Events' : 'Lanes'}
        </button>
      ))}
    </fieldset>
  );
}
