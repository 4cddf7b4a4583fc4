/** What came before what is shown, when somebody wants it. */
interface Props {
  /** How many there are; nothing is shown for none. */
  readonly hidden: number;
  readonly more: () => void;
}

export function EarlierOnes({ hidden, more }: Props) {
  if (hidden <= 0) return null;
  return (
    <p>
      <button type="button" className="button" onClick={more}>
        Show earlier ones
      </button>{' '}
      <span className="quiet">{hidden} more</span>
    </p>
  );
}
