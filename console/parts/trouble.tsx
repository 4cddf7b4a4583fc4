/** Something went wrong: what, and what to do; the rest is folded. */
import { visibleText } from '../../src/base/visible-text.ts';
import './styles/trouble.css';

interface Props {
  readonly what: string;
  readonly fix?: string | undefined;
  readonly more?: string | undefined;
}

export function Trouble({ what, fix, more }: Props) {
  return (
    <div className="trouble" role="alert">
      <p>
        <span aria-hidden="true">✗ </span>
        {visibleText(what)}
      </p>
      {fix !== undefined && <p className="quiet">{visibleText(fix)}</p>}
      {more !== undefined && (
        <details>
          <summary>More</summary>
          <pre>{visibleText(more)}</pre>
        </details>
      )}
    </div>
  );
}
