/** No bare spinner: after a moment it says what is awaited and since when. */
import { useEffect, useState } from 'react';

const QUIET_MS = 300;
const SECOND_MS = 1_000;

export function Awaited({ what }: { readonly what: string }) {
  const [seconds, setSeconds] = useState<number>();
  useEffect(() => {
    const first = setTimeout(() => setSeconds(0), QUIET_MS);
    const each = setInterval(() => setSeconds((before = 0) => before + 1), SECOND_MS);
    return () => {
      clearTimeout(first);
      clearInterval(each);
    };
  }, []);
  return (
    <p className="quiet view-body" role="status">
      {seconds === undefined ? '' : `waiting for: ${what}${seconds < 2 ? '' : `, for ${seconds} s`}`}
    </p>
  );
}
