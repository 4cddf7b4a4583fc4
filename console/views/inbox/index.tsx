/** What needs you, whoever asks and however deep; then what runs, what failed, what is done. */
import { useRef } from 'react';
import { Link, useLocation } from 'wouter';
import type { InboxItem } from '../../api/types.ts';
import { useKeys } from '../../app/keys.ts';
import type { ViewProps } from '../../app/places.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { addressOfWait } from '../../parts/wait/address.ts';
import { AnsweredBefore } from '../../parts/wait/answered-before.tsx';
import { useKept } from '../../parts/wait/kept.ts';
import { WaitCard } from '../../parts/wait/wait-card.tsx';
import { useInbox } from '../../store/hooks.ts';
import '../../parts/styles/list.css';
import './inbox.css';
import { NothingWaits } from './nothing-waits.tsx';
import { NotifyButton } from './notify-button.tsx';
import { RunSections } from './run-sections.tsx';
import { WaitRow } from './wait-row.tsx';

export function View({ params }: ViewProps) {
  const inbox = useInbox();
  const waiting = inbox.state === 'there' ? inbox.value.length : 0;
  return (
    <>
      <header className="view-head">
        <h1>Inbox</h1>
        <span className="quiet">{waiting === 0 ? 'nothing waits for you' : `${waiting} waiting for you`}</span>
        <span className="view-side">
          <NotifyButton />
        </span>
      </header>
      <LoadedView loaded={inbox} what="what waits for you">
        {(items) => <Inbox items={items} run={params['run']} wait={params['*']} />}
      </LoadedView>
    </>
  );
}

interface Props {
  readonly items: readonly InboxItem[];
  readonly run: string | undefined;
  readonly wait: string | undefined;
}

function Inbox({ items, run: namedRun, wait: namedWait }: Props) {
  const [, go] = useLocation();
  const isNamed = namedRun !== undefined;
  const [first] = items;
  // Without a name in the address: what was shown first stays, until somebody goes on.
  const shown = useRef<Pick<InboxItem, 'run' | 'wait'>>(undefined);
  if (!isNamed && shown.current === undefined) shown.current = first;
  const run = namedRun ?? shown.current?.run ?? '';
  const wait = namedWait ?? shown.current?.wait ?? '';
  const item = items.find((one) => one.run === run && one.wait === wait);
  const kept = useKept(item, run, wait);
  const step = (by: 1 | -1) => {
    const index = item === undefined ? -1 : items.indexOf(item);
    const next = items[Math.min(items.length - 1, Math.max(0, index + by))];
    if (next !== undefined) go(addressOfWait(next));
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  return (
    <div className={isNamed ? 'inbox named' : kept === undefined ? 'inbox still' : 'inbox'}>
      <section className="inbox-list" aria-label="What waits and what runs">
        {items.length > 0 && <h2 className="list-head">Needs you</h2>}
        <ul>
          {items.map((one) => (
            <WaitRow key={`${one.run} ${one.wait}`} item={one} isChosen={one === item} />
          ))}
        </ul>
        <RunSections />
      </section>
      <section className="inbox-main" aria-label="The chosen question">
        {kept === undefined ? (
          isNamed ? (
            <AnsweredBefore run={run} wait={wait} />
          ) : (
            <NothingWaits />
          )
        ) : (
          <WaitCard key={`${kept.run} ${kept.wait}`} item={kept} isGone={item === undefined} />
        )}
        {(kept !== undefined || isNamed) && item === undefined && first !== undefined && (
          <p className="inbox-next">
            <Link className="button first" href={addressOfWait(first)}>
              Next <kbd>j</kbd>
            </Link>{' '}
            <span className="quiet">{items.length} more waiting for you</span>
          </p>
        )}
      </section>
    </div>
  );
}
