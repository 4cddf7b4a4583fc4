/** Refusals in the protocol's own words. Each binding makes its codes of them; the name of a limit goes along for programs. */
import { A2AError, RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Failure } from '../../events/catalogue.ts';

type LimitName = keyof typeof limits;

/** The message itself is too large: another one may be fine. */
export function tooMuch(what: string, limit: LimitName): A2AError {
  return new RequestMalformedError({ message: `${what}: at most ${limits[limit]} (${limit}).`, metadata: { limit } });
}

/** Too much at a time: later it may be fine. */
export function tooMany(what: string, limit: LimitName): A2AError {
  return refusedNow(`${what}: at most ${limits[limit]} at a time (${limit}).`, limit);
}

/** The same where whoever runs the server has said how many. */
export function tooManyOf(what: string, most: number, limit: LimitName, setting: string): A2AError {
  const fix = `whoever runs this server can allow more: ${setting} in troupe.yaml`;
  return refusedNow(`${what}: at most ${most} at a time (${limit}); ${fix}.`, limit);
}

const refusedNow = (message: string, limit: LimitName): A2AError =>
  new UnsupportedOperationError({ message, metadata: { limit } });

/** What the engine refused. How it is mended is for whoever runs the server, and stays there. */
export function refused({ code, message }: Failure): A2AError {
  // Who works on it, and where, is nobody's business outside.
  const told = code === 'session_busy' ? 'The conversation has a task that is not over; it takes one at a time.' : message;
  return new UnsupportedOperationError({ message: told, metadata: { code } });
}

/** What went wrong inside is for the log: a stranger learns only that it did. */
export function hidden(error: unknown, onError: (error: Error) => void): A2AError {
  if (error instanceof A2AError) return error;
  onError(error instanceof Error ? error : new Error(messageOf(error)));
  return new A2AError('Something went wrong in the server; its log says what.');
}

/** Not one of the errors that the protocol has a word for: the server's own trouble. */
export const isOwnTrouble = (error: A2AError): boolean => error.name === A2AError.name;
