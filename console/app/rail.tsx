/** The ways to the views, and how many things wait. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useInbox } from '../store/hooks.ts';
import { addressOf, type Place, railPlaces } from './places.ts';
import { applyScheme, nextScheme, scheme } from './scheme.ts';

interface Props {
  readonly current: Place | undefined;
  readonly openPalette: () => void;
  readonly openHelp: () => void;
  readonly openDevice: () => void;
}

export function Rail({ current, openPalette, openHelp, openDevice }: Props) {
  const inbox = useInbox();
  const waiting = inbox.state === 'there' ? inbox.value.length : 0;
  const here = current?.ofSession === true ? 'sessions' : current?.name;
  return (
    <nav className="rail" aria-label="Views">
      <Link className="rail-name" href="/" aria-label="Troupe">
        <img src={iconUrl} width={20} height={20} alt="" />
        <span>Troupe</span>
      </Link>
      {railPlaces.map((entry) => (
        <Link
          key={entry.name}
          className="rail-link"
          href={entry.name === 'inbox' ? '/inbox' : addressOf(entry)}
          aria-current={entry.name === here ? 'page' : undefined}
        >
          <span className="rail-sign" aria-hidden="true">
            {entry.rail}
          </span>
          <span className="rail-word">{entry.title}</span>
          {entry.name === 'inbox' && waiting > 0 && (
            <span className="rail-count">
              {waiting}
              <span className="unseen"> waiting</span>
            </span>
          )}
        </Link>
      ))}
      <div className="rail-foot">
        <button type="button" className="button quiet" onClick={openPalette}>
          <span className="rail-sign" aria-hidden="true">
            ⌕
          </span>
          <span className="rail-word">
            Find <kbd>/</kbd>
          </span>
        </button>
        <button type="button" className="button quiet" onClick={openHelp}>
          <span className="rail-sign" aria-hidden="true">
            ?
          </span>
          <span className="rail-word">
            Keys <kbd>?</kbd>
          </span>
        </button>
        <button type="button" className="button quiet" onClick={openDevice}>
          <span className="rail-sign" aria-hidden="true">
            ▣
          </span>
          <span className="rail-word">Another device</span>
        </button>
        <SchemeButton />
      </div>
    </nav>
  );
}

const iconUrl = new URL('../icon.svg', import.meta.url).href;

function SchemeButton() {
  const [chosen, setChosen] = useState(scheme);
  const change = () => {
    const next = nextScheme(chosen);
    applyScheme(next);
    setChosen(next);
  };
  return (
    <button type="button" className="button quiet" onClick={change}>
      <span className="rail-sign" aria-hidden="true">
        ◑
      </span>
      <span className="rail-word">Colours: {chosen}</span>
    </button>
  );
}
