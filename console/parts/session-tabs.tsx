/** The views of one session, side by side; what was chosen in one stays chosen in the next (`?at=`, `?run=`). */
import { Link, useSearch } from 'wouter';
import { addressOf, sessionPlaces } from '../app/places.ts';
import './styles/tabs.css';

interface Props {
  readonly session: string;
  /** The name of the view that is shown. */
  readonly current: string;
}

const KEPT = ['at', 'run'];

/** On a phone there is no room for all of them. */
const intoSight = (tab: HTMLAnchorElement | null): void => tab?.scrollIntoView({ block: 'nearest', inline: 'center' });

export function SessionTabs({ session, current }: Props) {
  const search = new URLSearchParams(useSearch());
  const kept = new URLSearchParams([...search].filter(([name]) => KEPT.includes(name)));
  const query = kept.size === 0 ? '' : `?${kept}`;
  return (
    <nav className="tabs" aria-label="Views of this session">
      {sessionPlaces.map((entry) => (
        <Link
          key={entry.name}
          href={addressOf(entry, { session }) + query}
          aria-current={entry.name === current ? 'page' : undefined}
          ref={entry.name === current ? intoSight : undefined}
        >
          {entry.title}
        </Link>
      ))}
    </nav>
  );
}
