/** Why a run stopped, or has not: from the last event that decided it. */
import type { EventId, RunId } from '../../base/ids.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { reasonOutside } from '../../events/outside-reason.ts';
import { verificationText } from '../../events/verification-text.ts';

export const endingReasons = [
  ...(['answered', 'failed', 'budget', 'time', 'turns', 'provider', 'key', 'quota', 'model', 'setup', 'cancelled'] as const),
  ...(['parked', 'paused', 'waiting', 'working'] as const),
] as const;
export type EndingReason = (typeof endingReasons)[number];

export interface WhyEnded {
  readonly reason: EndingReason;
  /** One sentence. */
  readonly text: string;
  /** The event that decided it; `null` while the run is at work. */
  readonly event: EventId | null;
  /** What led there: attempts that failed, who cancelled, what is asked. */
  readonly because: readonly { readonly event: EventId; readonly text: string }[];
}

type Because = WhyEnded['because'][number];

export interface EndingFold {
  readonly run: RunId;
  agent: string;
  ended: EventOf<'run.ended'> | undefined;
  parked: EventOf<'run.parked'> | undefined;
  paused: EventOf<'run.paused'> | undefined;
  signalled: EventOf<'run.signalled'> | undefined;
  /** Attempts at the turn that was tried last. */
  failed: readonly EventOf<'model.failed'>[];
  readonly asks: Map<string, EventOf<'approval.asked'> | EventOf<'task.clarify'>>;
}

export const initialEnding = (run: RunId): EndingFold => ({
  ...{ run, agent: 'unknown', ended: undefined, parked: undefined, paused: undefined, signalled: undefined, failed: [] },
  asks: new Map(),
});

/** Takes the events of the run and of those below it. Updates and returns the accumulator it was given. */
export function foldEnding(fold: EndingFold, event: LedgerEvent): EndingFold {
  // A question below keeps the runs above it waiting.
  if (event.event_type === 'approval.asked' || event.event_type === 'task.clarify')
    fold.asks.set(`${event.run_id} ${event.payload.wait}`, event);
  if (event.event_type === 'approval.answered') fold.asks.delete(`${event.run_id} ${event.payload.wait}`);
  if (event.event_type === 'run.ended')
    for (const key of fold.asks.keys()) if (key.startsWith(`${event.run_id} `)) fold.asks.delete(key);
  if (event.event_type === 'run.signalled') fold.signalled = event;
  if (event.run_id === fold.run) foldOwn(fold, event);
  return fold;
}

function foldOwn(fold: EndingFold, event: LedgerEvent): void {
  switch (event.event_type) {
    case 'run.started':
      fold.agent = event.payload.agent;
      return;
    case 'run.ended':
      fold.ended = event;
      return;
    case 'run.parked':
      fold.parked = event;
      return;
    case 'run.paused':
      fold.paused = event;
      return;
    case 'run.resumed':
    case 'run.reopened':
      Object.assign(fold, { ended: undefined, parked: undefined, paused: undefined });
      return;
    case 'model.failed':
      fold.failed = [...fold.failed.filter(({ payload }) => payload.turn === event.payload.turn), event];
      return;
    case 'model.response':
      fold.failed = [];
      return;
    default:
      return;
  }
}

export function endingOf(fold: EndingFold): WhyEnded {
  const { ended, parked, paused, signalled, asks } = fold;
  if (ended !== undefined) return ofEnd(fold, ended);
  const tried = fold.failed.map(failedAttempt);
  if (parked !== undefined)
    return { reason: 'parked', text: `It stands still: ${parked.payload.error.message}`, event: parked.event_id, because: tried };
  if (paused !== undefined) {
    const who = signalled?.payload.signal === 'pause' ? [{ event: signalled.event_id, text: signalText(signalled) }] : [];
    return { reason: 'paused', text: `It was paused: ${paused.payload.reason}`, event: paused.event_id, because: who };
  }
  const [first] = asks.values();
  if (first !== undefined) {
    const because = [...asks.values()].map((asked) => ({ event: asked.event_id, text: askedText(asked) }));
    return { reason: 'waiting', text: `It has not ended: it waits for an answer`, event: first.event_id, because };
  }
  return { reason: 'working', text: 'It has not ended: it is at work, or was left in the middle', event: null, because: tried };
}

function ofEnd(fold: EndingFold, { event_id: event, payload }: EventOf<'run.ended'>): WhyEnded {
  const { status, error, report, verification, finalAgent, turns } = payload;
  if (status === 'completed' || status === 'completed_unverified') {
    const by = finalAgent === fold.agent ? 'it' : finalAgent;
    const when = turns === undefined ? '' : ` in turn ${turns}`;
    const how =
      report.synthetic === true
        ? `${by} gave no answer of its own${when}, so the runtime wrote one`
        : `${by} gave its answer${when}`;
    return { reason: 'answered', text: `${capital(how)}; ${verificationText(verification)}`, event, because: [] };
  }
  if (status === 'cancelled') {
    const { signalled } = fold;
    const who = signalled?.payload.signal === 'cancel' ? [{ event: signalled.event_id, text: signalText(signalled) }] : [];
    return {
      reason: 'cancelled',
      text: `It was cancelled${error === undefined ? '' : `: ${error.message}`}`,
      event,
      because: who,
    };
  }
  const text = error?.message ?? report.body;
  return { reason: reasonOutside(payload) ?? 'failed', text, event, because: fold.failed.map(failedAttempt) };
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const failedAttempt = ({ event_id: event, payload }: EventOf<'model.failed'>): Because => {
  const { turn, attempt, model, error } = payload;
  return { event, text: `turn ${turn}, attempt ${attempt} at ${model}: ${error.kind}, ${error.message}` };
};

function signalText({ payload: { signal, by, where, reason } }: EventOf<'run.signalled'>): string {
  const who = by === undefined ? 'somebody' : `${by}${where === undefined ? '' : ` (${where})`}`;
  return `${who} asked to ${signal} it${reason === undefined ? '' : `: ${reason}`}`;
}

function askedText(event: EventOf<'approval.asked'> | EventOf<'task.clarify'>): string {
  return event.event_type === 'task.clarify' ? `asks: ${event.payload.question}` : event.payload.why;
}
