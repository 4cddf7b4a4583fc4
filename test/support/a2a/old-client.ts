/** A peer of the older line: the client of the last SDK that speaks 0.3 and nothing else. */
import { randomUUID } from 'node:crypto';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import type { Message, MessageSendParams, Task } from 'a2a-sdk-0.3';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-sdk-0.3/client';
import { GrpcTransportFactory } from 'a2a-sdk-0.3/client/grpc';

/** It finds what it speaks on the card by itself. */
export async function oldClient(url: string, token: string, binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC'): Promise<Client> {
  const authorization = `Bearer ${token}`;
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', authorization);
    return fetch(input, { ...init, headers });
  };
  const bearer: Interceptor = (options, next) =>
    new InterceptingCall(next(options), {
      start(metadata, listener, go) {
        metadata.set('authorization', authorization);
        go(metadata, listener);
      },
    });
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl }),
    new RestTransportFactory({ fetchImpl }),
    new GrpcTransportFactory({ grpcCallOptions: { interceptors: [bearer] } }),
  ];
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
  const own = { transports, cardResolver, preferredTransports: [binding] };
  return await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, own)).createFromUrl(url);
}

export const oldWords = (text: string, more: Partial<Message> = {}): MessageSendParams => ({
  message: { kind: 'message', role: 'user', messageId: randomUUID(), parts: [{ kind: 'text', text }], ...more },
});

export function oldTask(result: Message | Task): Task {
  if (result.kind !== 'task') throw new Error('a message and no task');
  return result;
}

export function oldAnswer({ artifacts }: Task): string | undefined {
  const part = artifacts?.[0]?.parts[0];
  return part?.kind === 'text' ? part.text : undefined;
}
