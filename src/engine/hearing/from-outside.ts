/**
 * What reaches a driven session from outside: answers, what is taken back of them, and signals to cancel, pause or go on. They
 * are events in the ledger like everything else; this is the part of them that runs look at.
 *
 * How far it has heard is its own thing: only reading moves it. What the session writes itself is applied, and says nothing
 * about what others have written before.
 */

import { eventPosition, type RunId, type SessionId } from '../../base/ids.ts';
import { type Answer, type EventType, inboundTypes } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { RememberedRule } from '../../permissions/remembered-rule.ts';
import { type ApprovedAt, createRememberedRules } from './remembered-rules.ts';

export interface FromOutside {
  answer(run: RunId, wait: string): Answer | undefined;
  /** What somebody said "always" to, for the rest of the session. */
  remembered(): readonly RememberedRule[];
  cancelled(run: RunId): string | undefined;
  /** How many runs were asked to end. */
  cancels(): number;
  /** The reason, when this run was asked to pause and the session has not been taken up since. */
  pauseAsked(run: RunId): string | undefined;
  /** Reads everything that has come until now; the callback is called when anything had. */
  refresh(): Promise<void>;
  /** Resolves when the reads that were asked for until now are over, however they ended. */
  caughtUp(): Promise<void>;
  /** Everything from outside up to this position has been heard. */
  heard(): number;
  apply(event: LedgerEvent): void;
}

export interface FromOutsideOptions {
  readonly ledger: Ledger;
  readonly session: SessionId;
  /** What came from outside up to this position was read before, and is applied by whoever has read it. */
  readonly heard: number;
  /** What was remembered for the session before. */
  readonly before: ApprovedAt;
  /**
   * Others work on runs of this session, so what they broadcast and hear, and that they end, comes in from outside too; and that
   * one run was taken up says nothing about the others.
   */
  readonly shared: boolean;
  onNews(news: readonly LedgerEvent[]): void;
}

export function createFromOutside({ ledger, session, heard, before, shared, onNews }: FromOutsideOptions): FromOutside {
  const types: readonly EventType[] = shared
    ? [...inboundTypes, ...broadcastTypes, 'run.ended', 'message.included']
    : inboundTypes;
  const signals = createSignals(shared);
  const answers = new Map<string, Answer>();
  const remembered = createRememberedRules();
  remembered.restore(before);
  let cursor = heard;
  let reading: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  const apply = (event: LedgerEvent): void => {
    remembered.apply(event);
    if (event.event_type === 'approval.answered') {
      const { wait, answer } = event.payload;
      if (answer.kind !== 'expired') answers.set(`${event.run_id} ${wait}`, answer);
    } else signals.apply(event);
  };
  const readOn = async (): Promise<void> => {
    if (!shared && (await ledger.lastInbound(session)) <= cursor) return;
    for await (const page of readPages(ledger, { session, after: cursor, types, exact: true })) {
      for (const event of page) apply(event);
      cursor = Math.max(cursor, page.at(-1)?.position ?? 0);
      onNews(page);
    }
  };
  return {
    apply,
    answer: (run, wait) => answers.get(`${run} ${wait}`),
    remembered: remembered.all,
    cancelled: signals.cancelled,
    cancels: signals.cancels,
    pauseAsked: signals.pauseAsked,
    heard: () => cursor,
    caughtUp: () => (next ?? reading).catch(() => undefined),
    // One read at a time. One that is under way may have looked already, so whoever asks meanwhile gets the one after it.
    refresh() {
      next ??= reading.then(() => {
        next = undefined;
        const read = readOn();
        reading = read.catch(() => undefined);
        return read;
      });
      return next;
    },
  };
}

/** Which runs were asked to end or to pause. */
export function createSignals(shared: boolean) {
  const cancels = new Map<RunId, string>();
  const pauses = new Map<RunId, EventOf<'run.signalled'>>();
  /** Whoever has a run go on takes back the pauses that it knew of, and no other. */
  const takeBack = (run: RunId, upTo: number): void => {
    if ((pauses.get(run)?.position ?? Number.POSITIVE_INFINITY) <= upTo) pauses.delete(run);
  };
  return {
    cancelled: (run: RunId): string | undefined => cancels.get(run),
    cancels: (): number => cancels.size,
    pauseAsked: (run: RunId): string | undefined => (pauses.has(run) ? reasonOf(pauses.get(run)) : undefined),
    /** The last pause of each run that nobody has taken back. */
    pauses: (): ReadonlyMap<RunId, LedgerEvent> => pauses,
    apply(event: LedgerEvent): void {
      if (event.event_type === 'run.resumed' && !shared)
        for (const run of [...pauses.keys()]) takeBack(run, event.payload.heard ?? event.position);
      if (event.event_type !== 'run.signalled') return;
      const { signal } = event.payload;
      if (signal === 'cancel') cancels.set(event.run_id, reasonOf(event));
      else if (signal === 'pause') pauses.set(event.run_id, event);
      else takeBack(event.run_id, eventPosition(event.parent_event_id ?? '') ?? event.position);
    },
  };
}

const reasonOf = (signal: EventOf<'run.signalled'> | undefined): string => signal?.payload.reason ?? 'asked from outside';
