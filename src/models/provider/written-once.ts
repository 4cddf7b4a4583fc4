/**
 * The chat-completions provider writes every request out twice: once to send it, once for its own report. With long
 * conversations that is the larger part of a call. Here the body is written once and set aside; the provider carries a short
 * ticket through, and the transport swaps it for the body.
 */
import type { Transport } from './transport.ts';

export interface WrittenOnce {
  readonly transport: Transport;
  readonly transformRequestBody: (body: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

export function writeOnce(transport: Transport): WrittenOnce {
  /** Only what is on its way from the one function to the other. */
  const bodies = new Map<string, string>();
  let tickets = 0;
  return {
    transformRequestBody: (body) => {
      tickets += 1;
      const ticket = `body ${tickets}`;
      bodies.set(JSON.stringify(ticket), JSON.stringify(body));
      return { toJSON: () => ticket };
    },
    transport: (url, request) => {
      const ticket = request.body ?? '';
      const body = bodies.get(ticket);
      bodies.delete(ticket);
      return transport(url, body === undefined ? request : { ...request, body });
    },
  };
}
