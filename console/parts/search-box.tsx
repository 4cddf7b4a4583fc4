/** A field that finds while somebody types: what is in it goes to the address a moment later. */
import { useEffect, useRef, useState } from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly found: (words: string) => void;
}

const SETTLE_MS = 200;

export function SearchBox({ label, value, found }: Props) {
  const [text, setText] = useState(value);
  const tell = useRef(found);
  tell.current = found;
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => tell.current(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <search className="search-box">
      <input
        type="search"
        className="field"
        aria-label={label}
        placeholder={label}
        maxLength={500}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  );
}
