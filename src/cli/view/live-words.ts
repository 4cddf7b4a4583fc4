/**
 * Words as they are being written. Pieces and events come by different ways, so that either may be late: an event counts for
 * the turn that it is of, and what was heard of a later one stays.
 */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

export interface LiveWords {
  /** How much others have written so far. */
  readonly writing: ReadonlyMap<RunId, number>;
  /** The end of the answer as it is being written. */
  text(): string;
  event(event: LedgerEvent): void;
  /** Whether it was a piece of a text. */
  piece(piece: LivePiece): boolean;
}

interface Written extends Pick<LivePiece, 'run' | 'turn' | 'attempt'> {
  readonly text: string;
}

const isOne = (one: Pick<LivePiece, 'run' | 'turn' | 'attempt'>, other: typeof one): boolean =>
  one.run === other.run && one.turn === other.turn && one.attempt === other.attempt;

export function createLiveWords(): LiveWords {
  let answer: Written | undefined;
  const writing = new Map<RunId, number>();
  const turns = new Map<RunId, number>();
  /** What a run wrote in turns before this one is not being written any more. */
  const over = (run: RunId, before: number): void => {
    if (answer?.run === run && answer.turn < before) answer = undefined;
    if ((turns.get(run) ?? 0) < before) writing.delete(run);
  };
  return {
    writing,
    text: () => answer?.text ?? '',
    event(event) {
      const { run_id: run } = event;
      if (event.event_type === 'model.request') over(run, event.payload.turn);
      else if (event.event_type === 'model.response') over(run, event.payload.turn + 1);
      else if (event.event_type === 'run.ended') over(run, Number.POSITIVE_INFINITY);
    },
    piece({ delta, terminal, run, turn, attempt }) {
      if (delta.type !== 'text') return false;
      const writer = { run, turn, attempt };
      // What an attempt said that broke off is not what the next one says.
      const before = answer !== undefined && isOne(answer, writer) ? answer.text : '';
      if (terminal) answer = { ...writer, text: (before + delta.text).slice(-limits.liveTextCharacters) };
      else writing.set(run, (turns.get(run) === turn ? (writing.get(run) ?? 0) : 0) + delta.text.length);
      turns.set(run, turn);
      return true;
    },
  };
}
