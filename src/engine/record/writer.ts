/**
 * The one writer of a driven session. Appends go out in order; those of one event-loop turn share a transaction.
 *
 * - `write` resolves when the events are durable: what every effect waits for.
 * - `enqueue` does not wait. The events still precede everything written later, so they are durable before the next
 *   effect; waiting in between would only cost time.
 * - After a failure (lease lost, disk full) nothing more is written and every call throws the same interruption.
 */
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Append, AppendOutcome, Fence, Ledger, NewEvent } from '../../ledger/port.ts';
import { failureOf } from '../failure-of.ts';
import { Interruption } from '../interruption.ts';

export type OverLimit = Extract<AppendOutcome, { kind: 'over_limit' }>;
export type Unheard = Extract<AppendOutcome, { kind: 'unheard' }>;
export type WriteOptions = Pick<Append, 'counters' | 'sync'>;
export type HeardOptions = Pick<Append, 'heard' | 'release' | 'sync'>;

export interface SessionWriter {
  write(events: readonly NewEvent[], options?: WriteOptions): Promise<readonly LedgerEvent[] | OverLimit>;
  /** What closes a door (the end of a run, or of a question): refused, with nothing written, while something is unheard. */
  writeIfHeard(events: readonly NewEvent[], options: HeardOptions): Promise<readonly LedgerEvent[] | Unheard>;
  enqueue(events: readonly NewEvent[], options?: WriteOptions): void;
  /** Resolves when everything enqueued so far is durable. */
  flushed(): Promise<void>;
}

export function createWriter(
  ledger: Ledger,
  session: SessionId,
  fence: Fence,
  onFailure: (why: Interruption) => void,
  /** What is durable now, in order. */
  onWritten: (events: readonly LedgerEvent[]) => void = () => undefined,
): SessionWriter {
  let failure: Interruption | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const fail = (why: Interruption): never => {
    if (failure === undefined) {
      failure = why;
      onFailure(why);
    }
    throw failure;
  };
  const send = async (
    events: readonly NewEvent[],
    options: (WriteOptions & HeardOptions) | undefined,
  ): Promise<readonly LedgerEvent[] | Exclude<AppendOutcome, { kind: 'appended' | 'lease_lost' }>> => {
    if (failure !== undefined) throw failure;
    let outcome: AppendOutcome;
    try {
      outcome = await ledger.append({ session, fence, events, ...options });
    } catch (error) {
      const failure = failureOf(error);
      return fail(new Interruption('interrupted', failure.message, failure));
    }
    if (outcome.kind === 'lease_lost') return fail(new Interruption('lost', 'Another process has taken over this run.'));
    if (outcome.kind !== 'appended') return outcome;
    onWritten(outcome.events);
    return outcome.events;
  };
  const queued = (...given: Parameters<typeof send>): ReturnType<typeof send> => {
    const sent = send(...given);
    last = sent.catch(() => undefined);
    return sent;
  };
  return {
    async write(events, options) {
      const outcome = await queued(events, options);
      if (!('kind' in outcome) || outcome.kind === 'over_limit') return outcome;
      throw new TroupeError('bug', `An append without conditions was refused: ${outcome.kind}`);
    },
    async writeIfHeard(events, options) {
      const outcome = await queued(events, options);
      if (!('kind' in outcome) || outcome.kind === 'unheard') return outcome;
      throw new TroupeError('bug', `An append that depends on what was heard was refused: ${outcome.kind}`);
    },
    enqueue(events, options) {
      last = send(events, options).catch(() => undefined);
    },
    async flushed() {
      await last;
      if (failure !== undefined) throw failure;
    },
  };
}
