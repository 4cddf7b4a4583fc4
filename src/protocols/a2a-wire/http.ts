/**
 * The A2A server as a function from a request to a response: cards, JSON-RPC and HTTP+JSON. Who may ask is decided before it, in
 * `src/http`. Which version is spoken is what the header says; without it the older one, as the protocol has it.
 */
import { Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { LEGACY_HTTP_EXTENSION_HEADER } from '@a2a-js/sdk/compat/v0_3';
import { ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import { present } from '../../base/present.ts';
import { bareCard, LEGACY, pathOf, REST, type ServedPlace } from '../a2a/cards.ts';
import { agentsBehind, type Door } from '../a2a/doors.ts';
import { createHandler } from '../a2a/handler.ts';
import type { A2aNeeds } from '../a2a/needs.ts';
import { type A2aPeer, createRoom, type PeerRoom, peerOf } from '../a2a/room.ts';
import type { McpCaller } from '../mcp/needs.ts';
import { type Call, extensionsHere, noOperation, nothingHere, versionIn } from './call.ts';
import { serveCard } from './card-http.ts';
import { jsonRpcResponse } from './json-rpc.ts';
import { legacyRestResponse } from './legacy-rest.ts';
import { restResponse } from './rest.ts';

export interface A2aEndpoint {
  /** Whether cards can be signed as the settings want it: throws when they cannot. */
  signs(): Promise<void>;
  /** For other bindings than those of HTTP. */
  readonly room: PeerRoom;
  /** The card that this address asks for: anybody may read it. */
  card(request: Request): Promise<Response>;
  fetch(request: Request, caller: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

/** Where the cards are, and where everything else begins: for whoever mounts it. */
export const CARD = '/.well-known/agent-card.json';

export function createA2aEndpoint(given: Omit<A2aNeeds, 'stopping'>, grpcPort?: () => number | undefined): A2aEndpoint {
  const stopping = new AbortController();
  const needs: A2aNeeds = { ...given, stopping: stopping.signal };
  const room = createRoom(needs);
  return {
    room,
    signs: room.signer.ready,
    async card(request) {
      const { pathname } = new URL(request.url);
      const door = pathname === CARD ? HOUSE : doorOf(pathname.slice(0, -CARD.length))?.door;
      return await serveCard(needs, request, door, placeOf(request, grpcPort?.()), room.signer.card);
    },
    async fetch(request, caller) {
      const found = doorOf(new URL(request.url).pathname);
      if (found === undefined) return noOperation();
      if ((await agentsBehind(needs, found.door)).length === 0) return nothingHere();
      return withExtensions(needs, request, await answered(room, request, caller, found, placeOf(request, grpcPort?.())));
    },
    async close() {
      stopping.abort();
    },
  };
}

function withExtensions({ settings }: Pick<A2aNeeds, 'settings'>, request: Request, response: Response): Response {
  const here = extensionsHere(settings, extensionsIn(request));
  if (here.length > 0) response.headers.set(HTTP_EXTENSION_HEADER, here.join(', '));
  return response;
}

/** In the words of either version. */
const extensionsIn = ({ headers }: Request): readonly string[] =>
  [HTTP_EXTENSION_HEADER, LEGACY_HTTP_EXTENSION_HEADER].flatMap((name) =>
    Extensions.parseServiceParameter(headers.get(name) ?? ''),
  );

async function answered(
  room: PeerRoom,
  request: Request,
  caller: McpCaller,
  { door, rest }: FoundDoor,
  place: ServedPlace,
): Promise<Response> {
  const leave = new AbortController();
  const requestedVersion = versionIn(request) || LEGACY;
  let isReached = false;
  const reached = (): void => {
    isReached = true;
  };
  const user: A2aPeer = { ...peerOf(caller, AbortSignal.any([request.signal, leave.signal])), reached };
  const binding = rest === undefined ? 'JSONRPC' : 'HTTP+JSON';
  const legacy = requestedVersion === LEGACY;
  // The older version has no tenants: what stands first there belongs to the address.
  const tenant = legacy ? undefined : rest?.tenant;
  const requestedExtensions = [...extensionsIn(request)];
  const context = new ServerCallContext({ user, requestedVersion, requestedExtensions, ...present({ tenant }) });
  const check = (): void => validateVersion(requestedVersion, bareCard(room.needs, door, place), binding);
  const call: Call = { request, context, leave, legacy, check, isReached: () => isReached };
  const handler = createHandler(room, door, place);
  if (rest === undefined) return await jsonRpcResponse(room, handler, call);
  if (!legacy) return await restResponse(room, handler, call, rest.steps);
  return await legacyRestResponse(room, handler, call, rest.tenant === undefined ? rest.steps : [rest.tenant, ...rest.steps]);
}

const HOUSE: Door = { kind: 'house' };

interface FoundDoor {
  readonly door: Door;
  /** The steps of an HTTP+JSON address, and the tenant before them; nothing for JSON-RPC. */
  readonly rest: { readonly tenant?: string; readonly steps: readonly string[] } | undefined;
}

/** Words with which an address of HTTP+JSON goes on: what stands before one is a tenant. */
const FIRST_STEPS = new Set(['message:send', 'message:stream', 'tasks', 'extendedAgentCard']);

export function doorOf(pathname: string): FoundDoor | undefined {
  const [, name = '', after = ''] = /^\/a2a\/agents\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
  const word = decoded(name);
  if (word === undefined) return undefined;
  const door: Door = name === '' ? HOUSE : { kind: 'agent', name: word };
  const left = name === '' ? pathname.slice(pathOf(HOUSE).length) : after;
  if (left === '' || left === '/') return { door, rest: undefined };
  if (left !== REST && !left.startsWith(`${REST}/`)) return undefined;
  const steps = left
    .slice(REST.length + 1)
    .split('/')
    .map(decoded);
  if (steps.includes(undefined)) return undefined;
  const words = steps.filter((step) => step !== undefined);
  const [first = '', ...others] = words;
  return { door, rest: FIRST_STEPS.has(first) ? { steps: words } : { tenant: first, steps: others } };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The host is one of ours: that was looked at before. */
const placeOf = (request: Request, grpcPort: number | undefined): ServedPlace => ({
  origin: new URL(request.url).origin,
  grpcPort,
});
