/** The A2A server of an open project on free ports of this process, behind the real app. */
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { createApp } from '../../../src/http/app.ts';
import { listen } from '../../../src/http/listen.ts';
import { allowedNames } from '../../../src/http/names.ts';
import { bearerToken, createTokens, type NamedToken } from '../../../src/http/tokens.ts';
import type { Project } from '../../../src/project/project.ts';
import { listenGrpc } from '../../../src/protocols/a2a-wire/grpc.ts';
import { createA2aEndpoint } from '../../../src/protocols/a2a-wire/http.ts';
import { createAgentCatalogue } from '../../../src/protocols/mcp/agents.ts';
import { createMcpEndpoint } from '../../../src/protocols/mcp/http.ts';
import type { McpCaller } from '../../../src/protocols/mcp/needs.ts';

export interface ServeOptions {
  /** Nobody needs one without them, and everybody is the owner. */
  readonly tokens?: readonly NamedToken[];
  readonly callers?: Readonly<Record<string, McpCaller>>;
  readonly around?: ((handler: A2ARequestHandler) => A2ARequestHandler) | undefined;
  readonly port?: number;
  readonly grpcPort?: number;
  readonly clock?: Clock;
}

export interface ServedProject extends AsyncDisposable {
  readonly origin: string;
  readonly grpcPort: number;
  readonly errors: Error[];
  /** Goes on with telling whoever wanted to be told. */
  takeUp(): Promise<void>;
}

const OWNER: McpCaller = { name: 'user', sees: 'everything' };

export async function serveProject(project: Project, options: ServeOptions = {}): Promise<ServedProject> {
  const { callers = {}, around, port = 0, grpcPort = 0, clock = systemClock } = options;
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const { assistants, artifacts, ledger, redact, engine, config, groups } = project;
  const common = {
    assistants,
    ledger,
    redact,
    clock,
    version: '0.0.0',
    agents: createAgentCatalogue(project, systemClock, 'UTC'),
  };
  const mcp = createMcpEndpoint(common, onError);
  const tokens = createTokens(options.tokens ?? []);
  const { a2a: settings, root, workspace } = config;
  const shown = { settings, root, workspace, withToken: !tokens.open };
  const needs = { ...common, ...shown, engine, artifacts, onError, ids: groups.ids, around };
  const a2a = createA2aEndpoint(needs, () => grpc.port);
  const callerOf = (name: string): McpCaller => callers[name] ?? OWNER;
  const names = allowedNames('127.0.0.1');
  const app = createApp({ mcp, a2a, names, tokens, owner: OWNER.name, callerOf, version: '0.0.0', onError });
  const known = (header: string | undefined): McpCaller | undefined => {
    const name = tokens.open ? OWNER.name : tokens.ownerOf(bearerToken(header) ?? '');
    return name === undefined ? undefined : callerOf(name);
  };
  const here = { host: '127.0.0.1', clock };
  const grpc = await listenGrpc(a2a.room, { ...here, port: grpcPort, origin: () => server.origin, callerOf: known });
  const server = await listen({ ...here, port, fetch: (request) => app.fetch(request) });
  return {
    ...{ origin: server.origin, grpcPort: grpc.port, errors },
    takeUp: () => a2a.room.push.takeUp(({ by, asked }) => ({ caller: callerOf(by), tenant: asked.tenant ?? '' })),
    async [Symbol.asyncDispose]() {
      await Promise.all([a2a.close(), mcp.close(), server.stop(), grpc.stop()]);
    },
  };
}
