/** One request of HTTP, as both bindings have it. */
import { A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { A2AError, RequestMalformedError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { ONCE } from '../../peers/a2a/once.ts';
import type { A2aNeeds } from '../a2a/needs.ts';

export interface Call {
  readonly request: Request;
  readonly context: ServerCallContext;
  /** Aborts what the request waits for. */
  readonly leave: AbortController;
  /** Whether the older version is spoken. */
  readonly legacy: boolean;
  /** Whether a transport understood it so far that something was done for it. */
  isReached(): boolean;
  /** Throws when the version that was asked for is not spoken here. */
  check(): void;
}

/** The version that a request names, in its header or, where none can be set, in its address; the patch of it does not count. */
export function versionIn({ headers, url }: Request): string {
  return versionWord(headers.get(A2A_VERSION_HEADER) || (new URL(url).searchParams.get(A2A_VERSION_HEADER) ?? ''));
}

/** Those that a peer asked for and that hold here: what is not known is as if it were not said. */
export const extensionsHere = ({ demands = [] }: A2aNeeds['settings'], asked: readonly string[]): readonly string[] =>
  [ONCE, ...demands].filter((uri) => asked.includes(uri));

export const versionWord = (said: string): string => /^(\d+\.\d+)\.\d+$/.exec(said)?.[1] ?? said;

const notFound = (message: string): Response =>
  Response.json({ error: { code: 404, status: 'NOT_FOUND', message, details: [] } }, { status: 404 });

export const nothingHere = (): Response => notFound('There is no agent here.');

/** The agent is there, and the address or the method below it is none of the protocol's. */
export const NO_OPERATION = 'There is no such operation: look at the address and the method.';
export const noOperation = (): Response => notFound(NO_OPERATION);

const UNREADABLE = 'The request has not the form that the protocol gives it.';

/** The SDK stumbles over what it cannot read. As long as nothing was done, that is the peer's mistake and not the server's. */
export function blamed(call: Pick<Call, 'isReached'>, error: unknown): unknown {
  return error instanceof A2AError || call.isReached() ? error : new RequestMalformedError(UNREADABLE);
}
