/** A ledger that counts what is read from it: how many questions, how many events and rows, how many bytes. */
import type { Ledger } from '../../../src/ledger/port.ts';

export interface Reads {
  questions: number;
  events: number;
  characters: number;
  /** Questions about types in a whole session: a store looks through all of it, however few events it finds. */
  searches: number;
}

export const noReads = (): Reads => ({ questions: 0, events: 0, characters: 0, searches: 0 });

export function countingLedger(inner: Ledger, reads: Reads): Ledger {
  return {
    ...inner,
    async read(query) {
      const events = await inner.read(query);
      reads.questions += 1;
      const { run, root, types, after = 0 } = query;
      if (types !== undefined && (run ?? root) === undefined && after === 0) reads.searches += 1;
      reads.events += events.length;
      reads.characters += JSON.stringify(events).length;
      return events;
    },
    async lastInbound(session) {
      reads.questions += 1;
      return await inner.lastInbound(session);
    },
    async runs(filter) {
      const rows = await inner.runs(filter);
      reads.questions += 1;
      reads.events += rows.length;
      return rows;
    },
  };
}
