/**
 * The gRPC binding, on a port of its own, in both versions: the SDK's services on what all bindings share. gRPC has no paths: its
 * one address is the house's, and an agent's own door is a tenant of it.
 */

import { A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { type A2AError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { buildGrpcErrorMetadata } from '@a2a-js/sdk/errors/grpc';
import { defaultServerCallContextBuilder, type ServerCallContextBuilder } from '@a2a-js/sdk/server';
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';
import {
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { tooMuch } from '../a2a/errors.ts';
import { createHandler } from '../a2a/handler.ts';
import { type A2aPeer, type PeerRoom, peerOf, streamsOf } from '../a2a/room.ts';
import type { McpCaller } from '../mcp/needs.ts';
import { extensionsHere, versionWord } from './call.ts';
import { saysLastInGrpc } from './last-event.ts';
import { throughTenants } from './tenant-doors.ts';

export interface GrpcOptions {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** The address of the HTTP server: cards name it. */
  origin(): string;
  /** Who says this, in the words of a header; nobody when it is not let in. */
  callerOf(authorization: string | undefined): McpCaller | undefined;
}

export interface GrpcListening {
  readonly port: number;
  stop(): Promise<void>;
}

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

export async function listenGrpc(room: PeerRoom, options: GrpcOptions): Promise<GrpcListening> {
  const server = new Server({
    'grpc.max_receive_message_length': limits.httpBodyBytes,
    // Of one connection, where a call of any kind is a stream: whoever follows as many tasks as it may can still ask and cancel.
    'grpc.max_concurrent_streams': streamsOf(room.needs) + limits.a2aGrpcCalls,
    interceptors: [onlyCallers(options)],
  });
  let bound = 0;
  // What a handler knows of a request comes with it; a card is made when it is asked for.
  const place = {
    get origin() {
      return options.origin();
    },
    get grpcPort() {
      return bound;
    },
  };
  const requestHandler = throughTenants((door) => createHandler(room, door, place));
  const userBuilder = async (call: AnyCall): Promise<A2aPeer> => {
    const caller = options.callerOf(authorizationIn(call.metadata));
    if (caller === undefined) throw new Error('the interceptor lets nobody else in');
    return peerIn(call, caller, room.needs.clock);
  };
  // The tenant is read from the request itself, where it may stand for an agent's door.
  const contextBuilder: ServerCallContextBuilder = ({ tenant: _tenant, ...given }) => {
    const context = defaultServerCallContextBuilder(given);
    for (const uri of extensionsHere(room.needs.settings, given.extensions ?? [])) context.addActivatedExtension(uri);
    return context;
  };
  const how = { requestHandler, userBuilder, contextBuilder };
  server.addService(readable(A2AService), grpcService(how));
  server.addService(readable(lasting(LegacyA2AService)), legacyGrpcService(how));
  bound = await bind(server, options);
  return { port: bound, stop: () => stop(server, room.needs.clock) };
}

function bind(server: Server, { host, port }: GrpcOptions): Promise<number> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, taken) => {
      if (error === null) return resolve(taken);
      reject(
        new TroupeError('usage', `Cannot listen on ${address} for gRPC: ${messageOf(error)}`, {
          fix: 'choose another: --grpc-port 0',
        }),
      );
    });
  });
}

/** Those under way have a moment to end. */
async function stop(server: Server, clock: Clock): Promise<void> {
  const patience = new AbortController();
  const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await Promise.race([ended, sleep(clock, limits.serverStopMs, patience.signal)]);
  patience.abort();
  server.forceShutdown();
}

const authorizationIn = (metadata: Metadata): string | undefined => metadata.get('authorization')[0]?.toString();

/** Stands for what came when it is no message of the method. */
const UNREADABLE = {};

/** Without this a peer that sends nonsense would be told that something is wrong in the server. */
function readable(service: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        const request: unknown = method.requestDeserialize(bytes);
        return signsIn(request) > signsSent(bytes) ? UNREADABLE : request;
      } catch {
        return UNREADABLE;
      }
    };
    return [name, { ...method, requestDeserialize }] as const;
  });
  return Object.fromEntries(methods);
}

/** What a decoder puts in the place of bytes that are no text: more of them than were sent are its own. */
const REPLACED = '\uFFFD';

function signsIn(value: unknown): number {
  if (typeof value === 'string') return value.split(REPLACED).length - 1;
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return 0;
  return Object.values(value).reduce((count: number, one) => count + signsIn(one), 0);
}

function signsSent(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(REPLACED); at !== -1; at = bytes.indexOf(REPLACED, at + 1)) count += 1;
  return count;
}

function lasting(service: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(service).map(([name, method]) => {
    const responseSerialize = (event: unknown): Buffer => method.responseSerialize(saysLastInGrpc(event));
    return [name, method.responseStream ? { ...method, responseSerialize } : method] as const;
  });
  return Object.fromEntries(methods);
}

/** The patch of a version does not count. */
function withVersion(metadata: Metadata): Metadata {
  const said = metadata.get(A2A_VERSION_HEADER)[0]?.toString();
  if (said !== undefined) metadata.set(A2A_VERSION_HEADER, versionWord(said));
  return metadata;
}

/** Whoever has no token, or says what cannot be read, gets no further. */
function onlyCallers({ callerOf }: GrpcOptions): ServerInterceptor {
  return (_method, call) => {
    refuseTooLarge(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMessage(message, go) {
            if (message !== UNREADABLE) return go(message);
            call.sendStatus(malformed(new RequestMalformedError('The request has not the form that the protocol gives it.')));
          },
          onReceiveMetadata(metadata, go) {
            if (callerOf(authorizationIn(metadata)) !== undefined) return go(withVersion(metadata));
            const details = 'This server needs a token: authorization: Bearer …';
            call.sendStatus({ code: status.UNAUTHENTICATED, details, metadata: new Metadata() });
          },
        }),
      // The SDK says this of all that is none of the protocol's own errors: it is the server's trouble.
      sendStatus: (end, next) => next(end.code === status.UNKNOWN ? { ...end, code: status.INTERNAL } : end),
    });
  };
}

const malformed = (error: A2AError) => ({
  code: status.INVALID_ARGUMENT,
  details: error.message,
  metadata: buildGrpcErrorMetadata(Metadata, error) ?? new Metadata(),
});

/** What is too large is refused below all interceptors, in words of its own and by the code for a server that has no room. */
function refuseTooLarge(call: Parameters<ServerInterceptor>[1]): void {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (end) => {
    const isTooLarge = end.code === status.RESOURCE_EXHAUSTED && end.details?.startsWith('Received message') === true;
    send(isTooLarge ? malformed(tooMuch('The message is too large', 'httpBodyBytes')) : end);
  };
}

/** The SDK writes whether there is room or not: here is waited until there is. */
function peerIn(call: AnyCall, caller: McpCaller, clock: Clock): A2aPeer {
  const gone = new AbortController();
  call.once('cancelled', () => gone.abort());
  const ready = async (): Promise<void> => {
    if (!('writableNeedDrain' in call) || !call.writableNeedDrain) return;
    const patience = new AbortController();
    const drained = new Promise<'drained'>((resolve) => call.once('drain', () => resolve('drained')));
    const first = await Promise.race([
      drained,
      sleep(clock, limits.a2aStreamStuckMs, AbortSignal.any([patience.signal, gone.signal])),
    ]);
    patience.abort();
    if (first === 'drained') return;
    gone.abort();
    call.destroy();
  };
  return { ...peerOf(caller, gone.signal), ready };
}
