/** What runs are saying right now, as it comes; the whole is an event when it is said. */
import type { RunId } from '../../../src/base/ids.ts';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { SessionView } from '../../store/session.ts';
import type { Moment } from './moment.ts';

const CHARACTERS = 400;
const SHOWN = 3;

export function LiveWords({ view, moment }: { readonly view: SessionView; readonly moment: Moment }) {
  if (!moment.isNow || view.words.size === 0) return null;
  return (
    <ul className="live-words" aria-label="What is being said">
      {[...view.words].slice(-SHOWN).map(([run, text]) => (
        <li key={run}>
          <strong>{visibleText(moment.fold.tree.runs.get(run as RunId)?.agent ?? run)}</strong>{' '}
          {visibleText(text.slice(-CHARACTERS))}
        </li>
      ))}
    </ul>
  );
}
