/**
 * Which position each new event got, so that a later append can name it as its cause without waiting for the first one's
 * promise. What a rolled-back transaction wrote is forgotten again. Events nobody holds any more cost nothing.
 */
import type { SessionId } from '../../base/ids.ts';
import type { EventMark, NewEvent } from '../port.ts';

export interface WrittenEvents {
  add(event: NewEvent, session: SessionId, position: number): void;
  position(session: SessionId, event: NewEvent | EventMark): number | undefined;
  /** The transaction was committed. */
  keep(): void;
  /** The transaction was rolled back. */
  drop(): void;
}

export function createWrittenEvents(): WrittenEvents {
  const positions = new WeakMap<NewEvent | EventMark, { readonly session: SessionId; readonly position: number }>();
  let uncommitted: (NewEvent | EventMark)[] = [];
  return {
    add: (event, session, position) => {
      const key = event.mark ?? event;
      positions.set(key, { session, position });
      uncommitted.push(key);
    },
    position: (session, event) => {
      const found = positions.get(event);
      return found?.session === session ? found.position : undefined;
    },
    keep: () => {
      uncommitted = [];
    },
    drop: () => {
      for (const event of uncommitted) positions.delete(event);
      uncommitted = [];
    },
  };
}
