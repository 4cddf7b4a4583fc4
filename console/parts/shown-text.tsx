/**
 * A text of somebody else's that has to be judged: whole, as it is, with what a screen would hide or turn around spelled out and
 * marked. Lines of a difference have a sign and a colour.
 */
import type { ReactNode } from 'react';
import { visibleText } from '../../src/base/visible-text.ts';
import './styles/shown-text.css';

interface Props {
  readonly text: string;
  /** Its lines are those of a difference: `+`, `-` and `@@` mean something. */
  readonly isDiff?: boolean;
  /** What is in it, for whoever cannot see it. */
  readonly label: string;
}

export function ShownText({ text, isDiff = looksLikeDiff(text), label }: Props) {
  const lines = visibleText(text).split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="shown-text" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name than its number
        <div key={index} className={isDiff ? `line ${kindOf(line)}` : 'line'}>
          {line === '' ? '\u00a0' : marked(line)}
        </div>
      ))}
    </section>
  );
}

const SPELLED = /(⟨[^⟩]{1,80}⟩)/u;

/** What was spelled out stands out. */
export function marked(line: string): ReactNode {
  if (!line.includes('⟨')) return line;
  return line.split(SPELLED).map((part, index) =>
    SPELLED.test(part) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one line, always in this order
      <mark className="spelled" key={index}>
        {part}
      </mark>
    ) : (
      part
    ),
  );
}

export function looksLikeDiff(text: string): boolean {
  return /^@@ /m.test(text) || (/^\+\+\+ /m.test(text) && /^--- /m.test(text));
}

function kindOf(line: string): string {
  if (line.startsWith('@@') || line.startsWith('+++') || line.startsWith('---')) return 'place';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return '';
}
