/** A project whose agents are served by A2A on a free port of this process, and the SDK's own clients for it. */

import { AgentCard } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { systemClock } from '../../../src/base/clock.ts';
import { createApp } from '../../../src/http/app.ts';
import { listen } from '../../../src/http/listen.ts';
import { allowedNames } from '../../../src/http/names.ts';
import { bearerToken, createTokens } from '../../../src/http/tokens.ts';
import { openProject } from '../../../src/project/open.ts';
import type { Project } from '../../../src/project/project.ts';
import { listenGrpc } from '../../../src/protocols/a2a-wire/grpc.ts';
import { type A2aEndpoint, createA2aEndpoint } from '../../../src/protocols/a2a-wire/http.ts';
import { createAgentCatalogue } from '../../../src/protocols/mcp/agents.ts';
import { createMcpEndpoint } from '../../../src/protocols/mcp/http.ts';
import type { McpCaller } from '../../../src/protocols/mcp/needs.ts';
import { createTestProject, type TestProject } from '../../e2e/support-project.ts';
import type { Reply, SeenRequest } from '../models/script.ts';

export const OWNER = 'owner-0123456789abcdef';
export const ALICE = 'alice-0123456789abcdef';
export const BOB = 'bob-0123456789abcdef';

const CALLERS: Readonly<Record<string, McpCaller>> = {
  user: { name: 'user', sees: 'everything' },
  alice: { name: 'alice', sees: 'own', rights: { commands: 'all', answers: true, approves: false } },
  bob: { name: 'bob', sees: 'own', rights: { commands: 'all', answers: true, approves: false, spawn: ['helper'] } },
};

export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

export interface Served extends AsyncDisposable {
  readonly project: Project;
  readonly folder: TestProject;
  readonly origin: string;
  readonly endpoint: A2aEndpoint;
  readonly errors: Error[];
  client(token?: string, binding?: Binding, path?: string, version?: string): Promise<Client>;
  fetch(path: string, init?: RequestInit & { readonly token?: string | null }): Promise<Response>;
}

export interface ServedOptions {
  readonly agents?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly play?: (request: SeenRequest) => Reply | Promise<Reply>;
}

const HELPER =
  'description: Helps with everything\ntags: [help]\nexamples: [Help me]\ntools: [ask, shell]\nisolation: inline\na2a: true';

export async function served({
  agents = { helper: HELPER },
  settings = '',
  play = () => ({ text: 'Done.' }),
}: ServedOptions = {}): Promise<Served> {
  const folder = await createTestProject(settings);
  for (const [name, head] of Object.entries(agents))
    await folder.write(`agents/${name}.md`, `---\nname: ${name}\n${head}\n---\nYou work.\n`);
  await folder.serve(play);
  const project = await openProject({ cwd: folder.folder, env: folder.env });
  const catalogue = createAgentCatalogue(project, systemClock, 'UTC');
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const { assistants, ledger, engine, config } = project;
  const common = { assistants, ledger, clock: systemClock, version: '0.0.0', agents: catalogue };
  const mcp = createMcpEndpoint(common, onError);
  const { a2a: shown, root, workspace } = config;
  const needs = { ...common, engine, settings: shown, root, workspace, withToken: true, onError, ids: project.groups.ids };
  const endpoint = createA2aEndpoint(needs, () => grpc.port);
  const tokens = createTokens([
    { name: 'user', token: OWNER },
    { name: 'alice', token: ALICE },
    { name: 'bob', token: BOB },
  ]);
  const callerOf = (name: string): McpCaller => CALLERS[name] ?? { name, sees: 'own' };
  const app = createApp({
    mcp,
    a2a: endpoint,
    names: allowedNames('127.0.0.1'),
    tokens,
    owner: 'user',
    callerOf,
    version: '0',
    onError,
  });
  const known = (header: string | undefined): McpCaller | undefined => {
    const name = tokens.ownerOf(bearerToken(header) ?? '');
    return name === undefined ? undefined : callerOf(name);
  };
  const bound = { host: '127.0.0.1', port: 0, origin: () => server.origin, callerOf: known };
  const grpc = await listenGrpc(endpoint.room, bound);
  const server = await listen({ fetch: (request) => app.fetch(request), host: '127.0.0.1', port: 0, clock: systemClock });
  return {
    ...{ project, folder, endpoint, errors, origin: server.origin },
    client: (token = ALICE, binding = 'JSONRPC', path = '/', version = '1.0') =>
      connect(`${server.origin}${path}`, token, binding, version),
    async fetch(path, { token = ALICE, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (token !== null) headers.set('authorization', `Bearer ${token}`);
      return await fetch(new URL(path, server.origin), { ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([endpoint.close(), mcp.close(), server.stop(), grpc.stop()]);
      await project.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function connect(url: string, token: string, binding: Binding, version = '1.0'): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const legacyCompat = { enabled: version !== '1.0' };
  const bearer: Interceptor = (options, next) =>
    new InterceptingCall(next(options), {
      start(metadata, listener, go) {
        metadata.set('authorization', `Bearer ${token}`);
        go(metadata, listener);
      },
    });
  const grpc = new GrpcTransportFactory({ grpcCallOptions: { interceptors: [bearer] }, legacyCompat });
  const transports = [new JsonRpcTransportFactory({ fetchImpl, legacyCompat }), new RestTransportFactory({ fetchImpl }), grpc];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports,
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const factory = new ClientFactory(options);
  if (version === '1.0') return await factory.createFromUrl(url);
  // A peer of the older version knows only what the card says of that.
  const card = AgentCard.fromJSON(
    await (await fetchImpl(new URL('/.well-known/agent-card.json', url), { headers: { 'a2a-version': '1.0' } })).json(),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version);
  return await factory.createFromAgentCard({ ...card, supportedInterfaces });
}
