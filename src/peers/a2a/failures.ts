/** What goes wrong on the way to a peer, and whether what was sent can have arrived. */

import { A2AError, InvalidAgentResponseError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import type { PeerFailure } from '../port.ts';

/** Thrown through the SDK by our own `fetch`. */
export class WayFailed extends Error {
  readonly failure: PeerFailure;
  /** It certainly did not arrive, or was turned away at the door. */
  readonly unsent: boolean;

  constructor(kind: PeerFailure['kind'], message: string, unsent: boolean) {
    super(message);
    this.name = 'WayFailed';
    this.failure = { kind, message };
    this.unsent = unsent;
  }
}

/** It sends more than anybody reads: there is no end to wait for. */
export const isTooMuch = (error: unknown): boolean =>
  causeOf(error, (one) => one instanceof WayFailed && one.failure.kind === 'bad_response') !== undefined;

export interface Classified {
  readonly failure: PeerFailure;
  readonly taken: 'no' | 'perhaps';
  /** It may be over the next time. */
  readonly passing: boolean;
}

const PASSING: ReadonlySet<PeerFailure['kind']> = new Set(['network', 'timeout', 'overloaded', 'rate_limited', 'bad_response']);

export function classified(error: unknown): Classified {
  const failure = failureIn(error);
  return { failure, taken: isUnsent(error) ? 'no' : 'perhaps', passing: PASSING.has(failure.kind) };
}

function failureIn(error: unknown): PeerFailure {
  const way = causeOf(error, (one) => one instanceof WayFailed);
  if (way instanceof WayFailed) return way.failure;
  const status = grpcStatus(error);
  const message = shown(messageOf(error));
  if (status !== undefined) return { kind: GRPC_KINDS[status] ?? 'invalid_request', message };
  if (error instanceof A2AError) return { kind: 'invalid_request', message };
  const inStream = ERROR_IN_STREAM.exec(message)?.[1];
  if (inStream !== undefined) return { kind: 'bad_response', message: `It answered with an error: ${inStream}` };
  // What our own reading stumbles over says nothing to anybody.
  const what = error instanceof TypeError ? 'it has not the form that A2A gives it' : message;
  return { kind: 'bad_response', message: `Its answer cannot be read: ${what}`, fix: STRANGE };
}

/** For an answer that nobody understands. */
export const STRANGE = 'it may speak another version of A2A than its card says, or be no A2A agent: ask whoever runs it';

const ERROR_IN_STREAM = /^SSE event contained an error: (.*)$/s;

/** An error of the protocol itself is an answer: the message was looked at and not taken, unless its agent gave a bad answer. */
function isUnsent(error: unknown): boolean {
  const way = causeOf(error, (one) => one instanceof WayFailed);
  if (way instanceof WayFailed) return way.unsent;
  const status = grpcStatus(error);
  if (status !== undefined) return TURNED_AWAY.has(status) || /no connection established|name resolution/i.test(messageOf(error));
  return error instanceof A2AError && !(error instanceof InvalidAgentResponseError);
}

/** Whether it says that it does not do this: following a task, or listing some. */
export const isNotDone = (error: unknown): boolean => error instanceof UnsupportedOperationError || grpcStatus(error) === 12;
export const isNoTask = (error: unknown): boolean => error instanceof TaskNotFoundError;

const GRPC_KINDS: Readonly<Record<number, PeerFailure['kind']>> = {
  4: 'timeout',
  7: 'auth',
  8: 'rate_limited',
  14: 'network',
  16: 'auth',
  2: 'bad_response',
  13: 'bad_response',
};
/** Bad arguments, no permission, too much, not done here, not known. */
const TURNED_AWAY: ReadonlySet<number> = new Set([3, 5, 7, 9, 12, 16]);

/** The number of a failed call over gRPC. */
function grpcStatus(error: unknown): number | undefined {
  const found = causeOf(
    error,
    (one) => typeof Reflect.get(one, 'code') === 'number' && typeof Reflect.get(one, 'details') === 'string',
  );
  const code: unknown = found === undefined ? undefined : Reflect.get(found, 'code');
  return typeof code === 'number' ? code : undefined;
}

const CAUSES = 5;

function causeOf(error: unknown, is: (one: object) => boolean): object | undefined {
  let at = error;
  for (let depth = 0; depth < CAUSES && typeof at === 'object' && at !== null; depth += 1) {
    if (is(at)) return at;
    at = Reflect.get(at, 'cause');
  }
  return undefined;
}

const shown = (text: string): string => startOf(text, limits.peerReasonCharacters).toWellFormed();
