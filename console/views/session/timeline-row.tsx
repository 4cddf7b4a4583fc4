import { memo } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { firstLine, readableDuration } from '../../../src/projections/readable.ts';
import type { TimelineLine } from '../../../src/projections/timeline.ts';
import { hueOf } from '../../parts/hue.ts';

interface Props {
  readonly line: TimelineLine;
  readonly event: LedgerEvent;
  /** What was searched for is not in its line: the words around it. */
  readonly inside: string | undefined;
  readonly began: number;
  readonly isRaw: boolean;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

const SIGNS = { detail: '·', info: '•', warn: '!', error: '✗' } as const;
const RAW_CHARACTERS = 400;
/** Of the line where what was found inside stands behind it. */
const BESIDE_CHARACTERS = 40;

export const TimelineRow = memo(
  Row,
  (one, other) =>
    one.event === other.event && one.inside === other.inside && one.isRaw === other.isRaw && one.isChosen === other.isChosen,
);

function Row({ line, event, inside, began, isRaw, isChosen, choose }: Props) {
  const characters = inside === undefined ? RAW_CHARACTERS : BESIDE_CHARACTERS;
  const text = isRaw ? rawText(event, characters) : firstLine(line.text, characters);
  return (
    <li>
      <button type="button" className={`timeline-row ${line.level}`} aria-pressed={isChosen} onClick={choose}>
        <span className="offset">{offsetText(Date.parse(line.time) - began)}</span>
        <span className="level" aria-hidden="true">
          {SIGNS[line.level]}
        </span>
        <span className="agent cut">
          <span className="agent-bar" style={{ background: `oklch(62% 0.09 ${hueOf(line.agent)})` }} aria-hidden="true" />
          {visibleText(line.agent)}
        </span>
        <span className={isRaw ? 'text mono cut' : 'text cut'}>
          {visibleText(text)}
          {inside !== undefined && <span className="quiet mono"> {visibleText(inside)}</span>}
        </span>
        <span className="took quiet">{tookText(event)}</span>
      </button>
    </li>
  );
}

/** Since the session began: in tenths of a second within the first minutes. */
const offsetText = (milliseconds: number): string =>
  milliseconds < 600_000 ? `${(milliseconds / 1_000).toFixed(1)}s` : readableDuration(milliseconds);

const rawText = ({ position, event_type, payload }: LedgerEvent, characters: number): string =>
  `${position} ${event_type} ${(JSON.stringify(payload) ?? '').slice(0, characters)}`;

function tookText(event: LedgerEvent): string {
  const { payload } = event;
  const took = 'durationMs' in payload && typeof payload.durationMs === 'number' ? payload.durationMs : undefined;
  return took === undefined ? '' : readableDuration(took);
}
