/** How something stands: a sign and a word. */
import './styles/state-mark.css';
import { markOf, type Standing } from './states.ts';
import type { Worth } from './worth.ts';

interface Props {
  readonly state: Standing;
  readonly worth?: Worth | null | undefined;
  /** Only the sign is seen; the word is still there for whoever cannot see it. */
  readonly short?: boolean;
}

export function StateMark({ state, worth, short = false }: Props) {
  const { sign, word, tone } = markOf(state, worth);
  return (
    <span className={`state-mark ${tone}`} title={word}>
      <span aria-hidden="true">{sign}</span>
      <span className={short ? 'unseen' : 'state-word'}>{word}</span>
    </span>
  );
}
