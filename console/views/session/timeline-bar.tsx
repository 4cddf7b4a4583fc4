/** What of the events is shown. */
import { useRef } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { useKeys } from '../../app/keys.ts';
import type { Query } from '../../app/query.ts';
import { eventKinds } from './filtered.ts';

export type TimelineMode = 'compact' | 'full' | 'raw';

interface Props {
  readonly query: Query;
  readonly mode: TimelineMode;
  readonly agents: readonly string[];
  readonly found: number;
  readonly all: number;
}

export function TimelineBar({ query, mode, agents, found, all }: Props) {
  const field = useRef<HTMLInputElement>(null);
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
      <Choice label="How much it matters" name="level" all="all that matters" query={query} of={LEVELS} />
      <Choice label="Kind of event" name="kind" all="every kind" query={query} of={eventKinds.map((one) => [one, one])} />
      {agents.length > 1 && (
        <Choice label="Agent" name="agent" all="every agent" query={query} of={agents.map((one) => [one, one])} />
      )}
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

const LEVELS = [
  ['trouble', '! only trouble'],
  ['errors', '✗ only errors'],
] as const;

interface ChoiceProps {
  readonly label: string;
  /** In the address. */
  readonly name: string;
  /** What nothing chosen is called. */
  readonly all: string;
  readonly query: Query;
  readonly of: readonly (readonly [value: string, words: string])[];
}

function Choice({ label, name, all, query, of }: ChoiceProps) {
  const chosen = query.get(name) ?? '';
  return (
    <select
      className="field timeline-choice"
      aria-label={label}
      value={of.some(([value]) => value === chosen) ? chosen : ''}
      onChange={(event) => query.set({ [name]: event.target.value })}
    >
      <option value="">{all}</option>
      {of.map(([value, words]) => (
        <option key={value} value={value}>
          {visibleText(words)}
        </option>
      ))}
    </select>
  );
}
