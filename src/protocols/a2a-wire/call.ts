/** One request of HTTP, as both bindings have it. */
import type { AgentCard } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';

export interface Call {
  readonly request: Request;
  readonly context: ServerCallContext;
  /** Aborts what the request waits for. */
  readonly leave: AbortController;
  /** Whether the older version is spoken. */
  readonly legacy: boolean;
  /** Throws when the version that was asked for is not spoken here. */
  check(card: AgentCard): void;
}

export const nothingHere = (): Response =>
  Response.json({ error: { code: 404, status: 'NOT_FOUND', message: 'There is no agent here.', details: [] } }, { status: 404 });
