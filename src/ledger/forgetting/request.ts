/** What is asked to be forgotten, in the form that both stores ask their tables with, and what comes of it. */
import type { SessionId } from '../../base/ids.ts';
import { integer, type Row, text } from '../rows.ts';
import type { ForgetPart, ForgetRequest, ForgottenOutcome, Hold } from './port.ts';

interface AskedParts {
  readonly whole: readonly SessionId[];
  readonly picked: readonly (readonly [session: SessionId, position: number])[];
}

export function asked({ parts }: ForgetRequest): AskedParts {
  return {
    whole: parts.flatMap(({ session, events }) => (events === undefined ? [session] : [])),
    picked: parts.flatMap(({ session, events = [] }) => events.map(({ position }) => [session, position] as const)),
  };
}

/** `row` says whether the session is `free` and `pinned`, whether a run of it is `unfinished`, and where its `head` is. */
export function forgetRefusal(
  { session, byRule }: ForgetPart,
  row: Row | undefined,
  holds: readonly Hold[],
): Exclude<ForgottenOutcome, { kind: 'forgotten' }> | undefined {
  if (row === undefined) return { kind: 'unknown', session };
  const hold = holds.find((one) => one.session === session && one.released === null);
  if (hold !== undefined) return { kind: 'held', session, hold };
  if (byRule !== undefined && isTrue(row['pinned'])) return { kind: 'pinned', session };
  if (byRule !== undefined && integer(row, 'head') > byRule.upTo) return { kind: 'worked_on', session };
  if (isTrue(row['free'])) return undefined;
  return { kind: isTrue(row['unfinished']) ? 'unfinished' : 'worked_on', session };
}

const isTrue = (value: unknown): boolean => value === true || value === 1;

export interface ChosenRows {
  readonly events: number;
  /** With their `bytes`. */
  readonly payloads: readonly Row[];
  /** With `session` and how many `payloads` of it these are. */
  readonly shared: readonly Row[];
}

export const forgottenOutcome = (
  { events, payloads, shared }: ChosenRows,
  left: readonly string[],
  dryRun: boolean,
): ForgottenOutcome => ({
  kind: 'forgotten',
  ...{ events, payloads: payloads.length, left, dryRun },
  bytes: payloads.reduce((sum, row) => sum + integer(row, 'bytes'), 0),
  shared: shared.map((row) => ({ session: text(row, 'session') as SessionId, payloads: integer(row, 'payloads') })),
});
