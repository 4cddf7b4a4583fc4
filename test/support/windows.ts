/** A ledger in which something comes from outside at one exact moment: before an append, after a read, before a lease goes. */
import { eventId, type RunId, type SessionId } from '../../src/base/ids.ts';
import type { Answer, Payloads } from '../../src/events/catalogue.ts';

import type { Append, Ledger, NewEvent, ReadQuery } from '../../src/ledger/port.ts';

export interface Window {
  beforeAppend?(request: Append): boolean;
  afterRead?(query: ReadQuery): boolean;
  beforeRelease?(): boolean;
}

/** Does something once, the first time that the window is there. */
export function atWindow(window: Window, act: (inner: Ledger) => Promise<unknown>) {
  let done = false;
  const once = async (inner: Ledger, open: boolean | undefined): Promise<void> => {
    if (done || open !== true) return;
    done = true;
    await act(inner);
  };
  return {
    happened: () => done,
    wrapLedger: (inner: Ledger): Ledger => ({
      ...inner,
      append: async (request) => {
        await once(inner, window.beforeAppend?.(request));
        return await inner.append(request);
      },
      read: async (query) => {
        const events = await inner.read(query);
        await once(inner, window.afterRead?.(query));
        return events;
      },
      release: async (...given) => {
        await once(inner, window.beforeRelease?.());
        await inner.release(...given);
      },
    }),
  };
}

/** A writer whose first append is held until it is let go: it has looked at what there is, and comes late. */
export function lateWriter() {
  const looked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    looked: looked.promise,
    letGo: () => gate.resolve(),
    wrapLedger: (inner: Ledger): Ledger => ({
      ...inner,
      append: async (request) => {
        looked.resolve();
        await gate.promise;
        return await inner.append(request);
      },
    }),
  };
}

type Signal = Payloads['run.signalled']['signal'];

const from = (session: SessionId, run: RunId) =>
  ({ run, actor: 'user', cause: eventId(session, 1), at: 1_700_000_000_000 }) as const;

export const signalled = (session: SessionId, run: RunId, signal: Signal, reason = 'from outside'): NewEvent => ({
  ...from(session, run),
  type: 'run.signalled',
  payload: { signal, reason },
});

export const answeredWith = (session: SessionId, run: RunId, wait: string, answer: Answer): NewEvent => ({
  ...from(session, run),
  type: 'approval.answered',
  step: wait,
  payload: { wait, answer },
});

export async function comesIn(ledger: Ledger, session: SessionId, events: readonly NewEvent[]): Promise<void> {
  const outcome = await ledger.append({ session, fence: null, events });
  if (outcome.kind !== 'appended') throw new Error(`It was not taken: ${outcome.kind}`);
}
