/**
 * Says what went wrong once. An error comes up the tree: the call that failed has it, the run that ends with it, and whoever
 * called that one. Only the first line says it in full, and none where the summary below is going to.
 */
import type { LedgerEvent } from '../../events/envelope.ts';
import type { TimelineLine } from '../../projections/timeline.ts';

export interface SaidOnce {
  /** `undefined` as line: nothing of this event is shown. */
  event(event: LedgerEvent, line: TimelineLine | undefined): void;
  /** Nothing follows but a summary, which says this, if anything went wrong with the whole. */
  end(error: string | undefined): void;
}

/** Enough of an error to know it again where it was cut. */
const KNOWN_CHARACTERS = 100;

export function createSaidOnce(print: (line: TimelineLine) => void): SaidOnce {
  /** The error that is coming up, and the lines that it has passed. */
  let held: { readonly error: string; readonly lines: readonly TimelineLine[] } | undefined;
  const said = new Set<string>();
  const printed = (line: TimelineLine): void => {
    if (line.text !== '') print(line);
  };
  const release = (inFull: boolean): void => {
    if (held === undefined) return;
    const { error, lines } = held;
    held = undefined;
    said.add(error);
    const [first, ...rest] = lines;
    for (const line of [...(first === undefined ? [] : [inFull ? first : without(first, error)]), ...rest]) printed(line);
  };
  return {
    event(event, line) {
      const error = errorOf(event);
      // Whoever goes on after it does not wait for it.
      if (event.event_type === 'model.request') release(true);
      if (line === undefined) return;
      if (held !== undefined && placeOf(line, held.error) !== undefined) {
        held = { ...held, lines: [...held.lines, without(line, held.error)] };
        return;
      }
      release(true);
      // What was asked anew and failed anew is told anew, in whatever words.
      if (event.event_type === 'model.failed') said.delete(error ?? '');
      const known = [...said].find((one) => placeOf(line, one) !== undefined);
      if (known !== undefined) printed(without(line, known));
      else if (error === undefined) print(line);
      else held = { error, lines: [line] };
    },
    end: (error) => release(held?.error !== error),
  };
}

function errorOf(event: LedgerEvent): string | undefined {
  if (event.event_type === 'task.error') return event.payload.message;
  if (event.event_type === 'run.ended') return event.payload.error?.message;
  if (event.event_type === 'run.parked') return event.payload.error.message;
  return event.event_type === 'model.failed' && event.payload.final ? event.payload.error.message : undefined;
}

/** Where the error begins with which the line ends, perhaps cut. */
function placeOf({ text }: TimelineLine, error: string): number | undefined {
  const at = text.lastIndexOf(error.slice(0, KNOWN_CHARACTERS));
  const begins = at === 0 || text.slice(0, Math.max(0, at)).endsWith(': ');
  return at !== -1 && begins && (text.slice(at) === error || text.endsWith('…')) ? at : undefined;
}

function without(line: TimelineLine, error: string): TimelineLine {
  const at = placeOf(line, error);
  return at === undefined ? line : { ...line, text: line.text.slice(0, at).replace(/:?\s*$/, '') };
}
