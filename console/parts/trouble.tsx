/** Something went wrong: what, and what to do; the rest is folded. */
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
        {what}
      </p>
      {fix !== undefined && <p className="quiet">{fix}</p>}
      {more !== undefined && (
        <details>
          <summary>More</summary>
          <pre>{more}</pre>
        </details>
      )}
    </div>
  );
}
