/** A dialog of the browser's own: Escape closes it, the rest of the page cannot be reached meanwhile, focus goes back. */
import { type ReactNode, useEffect, useRef } from 'react';
import './styles/dialog.css';

interface Props {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
  /** Without a line of its own for the title: what is inside says what it is. */
  readonly bare?: boolean;
}

export function Dialog({ title, close, children, bare = false }: Props) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = place.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by itself; a click beside it is the same for a mouse
    <dialog
      ref={place}
      className="dialog"
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        if (event.target === place.current) close();
      }}
    >
      {!bare && (
        <header className="dialog-head">
          <h2>{title}</h2>
          <button type="button" className="button quiet" onClick={close} aria-label="Close">
            ✕
          </button>
        </header>
      )}
      {children}
    </dialog>
  );
}
