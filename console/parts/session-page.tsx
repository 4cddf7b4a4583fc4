/** A view of a session: its tabs, and what is shown of its events, at the moment that the address names (`?at=`). */
import { type ReactNode, useMemo, useState } from 'react';
import { visibleText } from '../../src/base/visible-text.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { onlyWaits } from '../../src/projections/run-tree.ts';
import { isFile } from '../api/kept.ts';
import { useQuery } from '../app/query.ts';
import { useSession } from '../store/hooks.ts';
import type { SessionView } from '../store/session.ts';
import type { SessionFold } from '../store/session-fold.ts';
import { Awaited } from './awaited.tsx';
import { Scrubber } from './scrubber/scrubber.tsx';
import { SessionTabs } from './session-tabs.tsx';
import { StateMark } from './state-mark.tsx';
import './styles/split.css';
import { Trouble } from './trouble.tsx';

export interface Shown {
  readonly view: SessionView;
  readonly fold: SessionFold;
  /** Up to the moment that is looked at; those whose content could not be had are left out. */
  readonly events: readonly LedgerEvent[];
  /** How many events that are, with those. */
  readonly count: number;
  /** The newest is looked at. */
  readonly isNow: boolean;
  /** What time it is there; `undefined` now, where that goes on. */
  readonly time: number | undefined;
}

interface Props {
  readonly session: string;
  readonly title: string;
  /** The name of the place. */
  readonly name: string;
  readonly children: (shown: Shown) => ReactNode;
}

export function SessionPage({ session, title, name, children }: Props) {
  const view = useSession(session);
  const query = useQuery();
  const [dragged, setDragged] = useState<number>();
  const shown = useShown(view, dragged ?? Number(query.get('at') ?? Number.NaN));
  const move = (to: number | undefined, isDone: boolean) => {
    setDragged(isDone ? undefined : (to ?? view.count));
    if (isDone) query.set({ at: to === undefined ? undefined : String(to) });
  };
  return (
    <>
      <header className="view-head">
        <h1>{title}</h1>
        <Whose fold={shown.fold} />
        <SessionTabs session={session} current={name} />
      </header>
      {view.count > 0 && <Scrubber view={view} count={shown.count} isNow={shown.isNow} move={move} />}
      {!shown.isNow && (
        <p className="notice waits" role="status">
          As it was after {shown.count} of {view.count} events.{' '}
          <button type="button" className="button quiet" onClick={() => query.set({ at: undefined })}>
            Show the newest
          </button>
        </p>
      )}
      {view.link.state === 'refused' ? (
        <Trouble what={view.link.refusal.message} fix={view.link.refusal.fix} />
      ) : view.count === 0 ? (
        <Awaited what="the events of the session" />
      ) : (
        children(shown)
      )}
    </>
  );
}

/** Of tabs side by side in a browser, whose this is, and how it stands. */
function Whose({ fold }: { readonly fold: SessionFold }) {
  const newest = fold.tree.roots.at(-1);
  const root = newest === undefined ? undefined : fold.tree.runs.get(newest);
  if (root === undefined) return null;
  return (
    <>
      <span>{visibleText(root.agent)}</span>
      <StateMark state={onlyWaits(fold.tree, root.run) ? 'waiting' : root.state} worth={root.verification?.state} />
    </>
  );
}

function useShown(view: SessionView, at: number): Shown {
  const isNow = !(Number.isInteger(at) && at > 0 && at < view.count);
  const count = isNow ? view.count : at;
  const { history } = view;
  // Another list whenever there is more: the one of the history grows in place.
  const events = useMemo(
    () => history.events.slice(0, count).filter(({ position }) => !history.unreadable.has(position)),
    [history, count],
  );
  const time = isNow && !isFile() ? undefined : Date.parse(history.events[count - 1]?.timestamp ?? '');
  return { view, fold: history.at(count), events, count, isNow, time };
}
