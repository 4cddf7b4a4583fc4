/**
 * What one run has done so far, by step, and how it adds to it. On a fresh start it is empty; on resume it holds the run's
 * events, so that completed steps answer from the ledger instead of happening again.
 */
import type { Clock } from '../../base/clock.ts';
import { eventPosition, type RunId } from '../../base/ids.ts';
import type { EventType, Payloads } from '../../events/catalogue.ts';
import type { Actor, EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { Cause, EventMark, NewEvent } from '../../ledger/port.ts';

export interface EventOptions {
  readonly step?: string;
  readonly actor?: Actor;
  readonly tool?: string;
  readonly attachment?: string | Uint8Array;
  /** What brought it about; the run's latest event unless said. */
  readonly cause?: Cause;
  /** Nothing follows from it: the run's next event has the same cause as without it. */
  readonly aside?: boolean;
}

export interface Journal {
  readonly run: RunId;
  /** The recorded event of this type for a step, if there is one. The last one counts. */
  recorded<Type extends EventType>(type: Type, step: string): EventOf<Type> | undefined;
  /** Builds an event of this run and makes it the run's latest. It is not written yet. */
  event<Type extends EventType>(
    type: Type,
    payload: Payloads[Type],
    options?: EventOptions,
  ): NewEvent & { readonly mark: EventMark };
  /** The run's latest event, as a cause for others. */
  newest(): Cause;
  /** What the run does next follows from this event of another run, unless the run went on from there in an earlier life. */
  follow(cause: Cause): void;
  /** Remembers where the run stands; calling the result goes back there, when events built since were refused. */
  mark(): () => void;
  /** The run's latest event of a type, as a cause for others. */
  latest(type: EventType): Cause | undefined;
  /** Every event of the run from before this process took it up, oldest first. */
  readonly past: readonly LedgerEvent[];
}

/** What others wrote into the run's thread, and what hosted it: no step of the run follows from these. */
const ASIDE: ReadonlySet<EventType> = new Set([
  ...(['message.sent', 'message.included', 'message.read', 'context.noted', 'process.started', 'process.ended'] as const),
]);

/** What only says that the work was taken up or put down; it is not what anything follows from. */
const INTERRUPTIONS: ReadonlySet<EventType> = new Set(['run.resumed', 'run.paused', 'run.signalled']);

export function createJournal(run: RunId, agent: string, clock: Clock, past: readonly LedgerEvent[], startedBy: Cause): Journal {
  const byStep = new Map<string, LedgerEvent>();
  for (const event of past) if (event.step !== null) byStep.set(`${event.event_type} ${event.step}`, event);
  let latest: Cause = past.findLast((event) => !ASIDE.has(event.event_type))?.event_id ?? startedBy;
  const lastDone = past.findLast((event) => !INTERRUPTIONS.has(event.event_type) && !ASIDE.has(event.event_type))?.position ?? 0;
  const latestOf = new Map<EventType, Cause>(past.map((event) => [event.event_type, event.event_id]));
  return {
    run,
    past,
    latest: (type) => latestOf.get(type),
    newest: () => latest,
    follow(cause) {
      if (typeof cause === 'string' && (eventPosition(cause) ?? 0) < lastDone) return;
      latest = cause;
    },
    mark() {
      const before = latest;
      return () => {
        latest = before;
      };
    },
    recorded<Type extends EventType>(type: Type, step: string) {
      const event = byStep.get(`${type} ${step}`);
      return event === undefined ? undefined : (event as unknown as EventOf<Type>);
    },
    event(type, payload, options = {}) {
      const { step, tool, attachment, cause = latest, actor = `agent:${agent}` } = options;
      // The mapped union ties payload to type; the compiler cannot see that through a generic function.
      const mark: EventMark = { of: type };
      if (options.aside !== true) latest = mark;
      latestOf.set(type, mark);
      return { type, run, payload, actor, cause, mark, at: clock.now(), step, tool, attachment } as unknown as NewEvent & {
        readonly mark: EventMark;
      };
    },
  };
}
