/** Whether what is shown is what is: live, so many behind, as it was, or cut off. */
import { readableDuration } from '../../../src/projections/readable.ts';
import { isFile } from '../../api/kept.ts';
import { useNow } from '../../store/hooks.ts';
import type { SessionView } from '../../store/session.ts';
import type { Moment } from './moment.ts';

interface Props {
  readonly view: SessionView;
  readonly moment: Moment;
  readonly toNow: () => void;
}

export function Liveness({ view, moment, toNow }: Props) {
  const { link, count, head } = view;
  const now = useNow();
  if (!moment.isNow)
    return (
      <span className="liveness past" role="status">
        as it was at event {moment.count} of {count}
        <button type="button" className="button" onClick={toNow}>
          {isFile() ? 'To the end' : 'To now'}
        </button>
      </span>
    );
  if (link.state === 'lost')
    return (
      <span className="liveness lost" role="status">
        ‖ cut off for {readableDuration(now - link.since)}; tried again by itself
      </span>
    );
  const behind = Math.max(0, head - count);
  return (
    <span className="liveness quiet">
      {behind > 0
        ? `loading, ${behind} behind`
        : isFile()
          ? `event ${count}, the last`
          : link.state === 'open'
            ? `live · event ${count}`
            : 'connecting'}
    </span>
  );
}
