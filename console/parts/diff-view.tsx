/**
 * A difference, line by line, with the numbers of both files. What a screen would hide is spelled out. The number of a line is a
 * button where comments are taken.
 */
import { useMemo, useState } from 'react';
import { judgedText } from '../../src/base/visible-text.ts';
import { type DiffRow, diffRows } from './diff-rows.ts';
import { marked } from './shown-text.tsx';
import './styles/diff-view.css';

interface Props {
  readonly diff: string;
  readonly label: string;
  /** Told which line was chosen: its number, in the new file where it is there, and its text. */
  readonly onLine?: ((line: ChosenLine) => void) | undefined;
  readonly commented?: ReadonlySet<string> | undefined;
}

export interface ChosenLine {
  readonly number: number;
  readonly side: 'new' | 'old';
  readonly text: string;
}

export const lineKey = ({ side, number }: Pick<ChosenLine, 'side' | 'number'>): string => `${side} ${number}`;

const AT_ONCE = 1_500;
const SIGNS = { added: '+', removed: '-', same: ' ', place: '' } as const;

export function DiffView({ diff, label, onLine, commented }: Props) {
  const rows = useMemo(() => diffRows(diff), [diff]);
  const [shown, setShown] = useState(AT_ONCE);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="diff-view" aria-label={label} tabIndex={0}>
        {rows.slice(0, shown).map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name than its number
          <Line key={index} row={row} onLine={onLine} commented={commented} />
        ))}
      </section>
      {rows.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + AT_ONCE)}>
          Show more: {rows.length - shown} lines are left
        </button>
      )}
    </>
  );
}

interface LineProps extends Pick<Props, 'onLine' | 'commented'> {
  readonly row: DiffRow;
}

function Line({ row, onLine, commented }: LineProps) {
  const { kind, text, before, after } = row;
  const number = after ?? before;
  const chosen = number === null ? undefined : ({ number, side: after === null ? 'old' : 'new', text } as const);
  const isCommented = chosen !== undefined && commented?.has(lineKey(chosen)) === true;
  return (
    <div className={`diff-line ${kind}${isCommented ? ' commented' : ''}`}>
      <span className="diff-number">{before}</span>
      {onLine !== undefined && chosen !== undefined ? (
        <button
          type="button"
          className="diff-number"
          onClick={() => onLine(chosen)}
          aria-label={`Comment on line ${number}${chosen.side === 'old' ? ' of before' : ''}`}
        >
          {after ?? '+'}
        </button>
      ) : (
        <span className="diff-number">{after}</span>
      )}
      <span className="diff-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <code>{text === '' ? '\u00a0' : marked(judgedText(` ${text}`).slice(1))}</code>
    </div>
  );
}
