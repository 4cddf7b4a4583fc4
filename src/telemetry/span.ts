/**
 * A span as it is sent, whatever wire it goes over. Its ids follow from those of the ledger: the same event gives the same span,
 * in every process and however often it is told.
 */
import { createHash } from 'node:crypto';
import type { EventId, RunId, SessionId } from '../base/ids.ts';

/** A number that stays a fraction, also where it happens to be whole. */
export interface Fraction {
  readonly fraction: number;
}
export type AttributeValue = string | number | boolean | Fraction | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly failed: boolean;
  /** An earlier span of the same trace that this one goes on from. */
  readonly after: string | undefined;
}

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

const digest = (words: readonly string[], bytes: number): string =>
  createHash('sha256')
    .update(JSON.stringify(words))
    .digest('hex')
    .slice(0, 2 * bytes);

/** One trace for each root run: a session may go on for ever. */
export const traceOf = (session: SessionId, root: RunId): string => digest(['trace', session, root], TRACE_BYTES);

/** `reopened` is the event that had the run go on after an end: that is a span of its own. */
export const spanOfRun = (run: RunId, reopened?: EventId): string =>
  digest(reopened === undefined ? ['run', run] : ['run', run, reopened], SPAN_BYTES);

/** Of anything else that begins with an event. */
export const spanOfEvent = (event: EventId): string => digest(['event', event], SPAN_BYTES);
