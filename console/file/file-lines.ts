/**
 * The events of a file, line by line, each held against its hashes: what it holds against its name, its envelope and the hash
 * before it against its own. The first that is not as it was written is named; what comes after it is shown all the same.
 */
import { CHAIN_START, chainedText, type Envelope, fieldsOfEnvelope, type LedgerEvent } from '../../src/events/envelope.ts';
import type { History } from '../store/history.ts';
import { sha256 } from './sha256.ts';

/** A line of the file: `src/front/one-file/session-file.ts` writes them. */
export interface FileLine {
  readonly event: Envelope & { readonly position: number };
  readonly chain: string;
  /** Absent where the event is of another run than the one that was exported. */
  readonly payload?: unknown;
  /** The SHA-256 of the payload as it is here, where secrets were taken out of it: then its name is of the sealed one. */
  readonly redacted?: string;
}

export interface Break {
  readonly position: number;
  readonly why: string;
}

export interface LineReader {
  read(line: string): void;
  /** The first event that is not as it was written. */
  readonly broken: () => Break | undefined;
  readonly head: () => string;
  readonly counts: () => { readonly events: number; readonly redacted: number; readonly left: number };
}

export function createLineReader(history: History): LineReader {
  let [head, events, redacted, left] = [CHAIN_START, 0, 0, 0];
  let broken: Break | undefined;
  const breaks = (position: number, why: string): void => {
    broken ??= { position, why };
  };
  return {
    broken: () => broken,
    head: () => head,
    counts: () => ({ events, redacted, left }),
    read(text) {
      const position = events + 1;
      events = position;
      const line = parsed(text);
      if (line === undefined) {
        breaks(position, 'its line cannot be read');
        history.addUnreadable(placeholder(position, history.events.at(-1)), 'its line in this file cannot be read', 'error');
        return;
      }
      const { event, payload, chain } = line;
      if (event.position !== position) breaks(position, `in its place stands event ${event.position}`);
      const expected = sha256(chainedText(head, fieldsOfEnvelope(event)));
      if (expected !== chain) breaks(position, 'its envelope, or what came before it, is not what was written');
      head = chain;
      const whole = { ...event, position, payload } as LedgerEvent;
      if (payload === undefined) {
        left += 1;
        history.addUnreadable(whole, 'it is of another run, and not in this file', 'detail');
        return;
      }
      if (line.redacted !== undefined) redacted += 1;
      if (sha256(JSON.stringify(payload)) !== (line.redacted ?? event.payload_ref))
        breaks(position, 'what it holds is not what was written');
      addSafely(history, whole);
    },
  };
}

function parsed(text: string): FileLine | undefined {
  try {
    const line = JSON.parse(text) as FileLine;
    return typeof line.chain === 'string' && typeof line.event.event_id === 'string' ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Stands where nobody can tell what stood there, so that the others stand in their places. */
const placeholder = (position: number, before: LedgerEvent | undefined): LedgerEvent =>
  ({
    ...{ position, event_id: `unreadable.${position}`, event_type: 'unreadable', actor: 'system', run_id: before?.run_id ?? '' },
    ...{ timestamp: before?.timestamp ?? new Date(0).toISOString(), parent_event_id: null, attachment_ref: null },
    ...{ step: null, tool: null, payload: {} },
  }) as unknown as LedgerEvent;

function addSafely(history: History, event: LedgerEvent): void {
  try {
    history.add(event);
  } catch (error) {
    history.addUnreadable(event, error instanceof Error ? error.message : String(error));
  }
}
