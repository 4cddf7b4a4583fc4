/** Words for the conformance checks: the store under test, a run that has started, and simple events for it. */
import assert from 'node:assert/strict';
import { type EventId, eventId, type RunId, type SessionId } from '../../../src/base/ids.ts';
import type { EventType } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Append, Fence, Ledger, NewEvent } from '../../../src/ledger/port.ts';

type New<Type extends EventType> = Extract<NewEvent, { readonly type: Type }>;

export interface StoreUnderTest {
  readonly ledger: Ledger;
  /** A second view of the same store, as another process has it; `undefined` when the store cannot be shared. */
  another(): Promise<Ledger | undefined>;
  /** Closes everything and opens the store again; `undefined` when it keeps nothing. */
  reopen(): Promise<Ledger | undefined>;
  newSession(): SessionId;
  newRun(): RunId;
  /** A value that the store was told to keep out. */
  readonly secret: string;
}

export interface ConformanceCheck {
  readonly name: string;
  check(open: () => Promise<StoreUnderTest>): Promise<void>;
}

/** Somebody who holds the lease of a run whose first event is stored. */
export interface Writer {
  readonly ledger: Ledger;
  readonly session: SessionId;
  readonly run: RunId;
  readonly fence: Fence;
  readonly at: number;
  eventAt(position: number): EventId;
  request(events: Append['events']): Append;
  ending(): New<'run.ended'>;
}

const AT = 1_700_000_000_000;

export async function givenRun(
  store: Pick<StoreUnderTest, 'ledger' | 'newSession' | 'newRun'>,
  prompt = 'hello',
): Promise<Writer> {
  const session = store.newSession();
  const run = store.newRun();
  const lease = await store.ledger.acquire(session, run);
  assert.ok(lease.kind === 'acquired', `a new run's lease is ${lease.kind}`);
  assert.ok(lease.fresh, 'neither the run nor its session was there before');
  const writer: Writer = {
    ledger: store.ledger,
    session,
    run,
    fence: lease.fence,
    at: AT,
    eventAt: (position) => eventId(session, position),
    request: (events) => ({ session, fence: lease.fence, events }),
    ending: () => ({
      ...common(writer),
      type: 'run.ended',
      payload: {
        status: 'completed',
        report: { format: 'text', body: 'done' },
        finalAgent: 'tester',
        verification: { state: 'unchecked' },
      },
    }),
  };
  await appendOrFail(writer, [{ ...opening(writer, prompt), cause: null }]);
  return writer;
}

export function opening(writer: Writer, prompt = 'hello'): New<'run.started'> {
  return {
    ...common(writer),
    type: 'run.started',
    payload: { agent: 'tester', input: userText(prompt), origin: { kind: 'person' }, depth: 0 },
  };
}

/** A small event that carries a text and is caused by the first one. */
export function note(writer: Writer, value: string): New<'step.recorded'> {
  return { ...common(writer), type: 'step.recorded', payload: { value } };
}

export function noteText(event: LedgerEvent): string {
  assert.ok(event.event_type === 'step.recorded' && typeof event.payload.value === 'string');
  return event.payload.value;
}

export async function appendOrFail(writer: Writer, events: Append['events']): Promise<readonly LedgerEvent[]> {
  const outcome = await writer.ledger.append(writer.request(events));
  assert.ok(outcome.kind === 'appended', `an append ended ${outcome.kind}`);
  return outcome.events;
}

function common(writer: Writer): { readonly run: RunId; readonly actor: 'system'; readonly cause: EventId; readonly at: number } {
  return { run: writer.run, actor: 'system', cause: writer.eventAt(1), at: writer.at };
}

/** Appends `count` notes one after the other. */
export async function writeNotes(writer: Writer, count: number, label = 'note'): Promise<void> {
  for (let index = 0; index < count; index += 1) await appendOrFail(writer, [note(writer, `${label} ${index}`)]);
}

export const positions = (events: readonly LedgerEvent[]): number[] => events.map((event) => event.position);

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
