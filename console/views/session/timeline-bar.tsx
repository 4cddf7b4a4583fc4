/** What of the events is shown. */
import { useRef } from 'react';
import { useKeys } from '../../app/keys.ts';
import type { Query } from '../../app/query.ts';

export type TimelineMode = 'compact' | 'full' | 'raw';

interface Props {
  readonly query: Query;
  readonly mode: TimelineMode;
  readonly found: number;
  readonly all: number;
}

export function TimelineBar({ query, mode, found, all }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const isTrouble = query.get('level') === 'trouble';
  useKeys({ f: () => field.current?.focus() });
  return (
    <search className="timeline-bar">
      <fieldset className="segments">
        <legend className="unseen">How much of each event</legend>
        {(['compact', 'full', 'raw'] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === mode}
            onClick={() => query.set({ mode: one === 'compact' ? undefined : one })}
          >
            {one}
          </button>
        ))}
      </fieldset>
      <button
        type="button"
        className="button"
        aria-pressed={isTrouble}
        onClick={() => query.set({ level: isTrouble ? undefined : 'trouble' })}
      >
        ! only trouble
      </button>
      <input
        ref={field}
        type="search"
        className="field"
        aria-label="Search in this session"
        placeholder="Search in this session (f)"
        value={query.get('find') ?? ''}
        onChange={(event) => query.set({ find: event.target.value })}
      />
      <span className="quiet timeline-count" role="status">
        {found} of {all}
      </span>
    </search>
  );
}
