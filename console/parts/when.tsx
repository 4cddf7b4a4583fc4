/** A time: how long ago, and on hover when exactly. */
import { readableDuration } from '../../src/projections/readable.ts';
import { useNow } from '../store/hooks.ts';

const NOW_MS = 1_500;

export function When({ at }: { readonly at: number | string }) {
  const time = typeof at === 'string' ? Date.parse(at) : at;
  const passed = useNow() - time;
  const exact = new Date(time);
  return (
    <time dateTime={exact.toISOString()} title={exact.toLocaleString()}>
      {passed < NOW_MS ? 'now' : `${coarse(passed)} ago`}
    </time>
  );
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Seconds count only within the first minute. */
function coarse(milliseconds: number): string {
  if (milliseconds < MINUTE_MS) return `${Math.floor(milliseconds / 1_000)}s`;
  if (milliseconds >= DAY_MS) return `${Math.floor(milliseconds / DAY_MS)}d`;
  return readableDuration(milliseconds - (milliseconds % MINUTE_MS)).replace(/m00s$/, 'm');
}
