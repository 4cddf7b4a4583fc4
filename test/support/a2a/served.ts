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
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { openProject } from '../../../src/project/open.ts';
import type { Project } from '../../../src/project/project.ts';
import type { McpCaller } from '../../../src/protocols/mcp/needs.ts';
import { createTestProject, type TestProject } from '../../e2e/support-project.ts';
import type { Reply, SeenRequest } from '../models/script.ts';
import { serveProject } from './serve-project.ts';

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
  readonly errors: Error[];
  client(token?: string, binding?: Binding, path?: string, version?: string): Promise<Client>;
  fetch(path: string, init?: RequestInit & { readonly token?: string | null }): Promise<Response>;
}

export interface ServedOptions {
  readonly agents?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly around?: (handler: A2ARequestHandler) => A2ARequestHandler;
  readonly play?: (request: SeenRequest) => Reply | Promise<Reply>;
}

const HELPER =
  'description: Helps with everything\ntags: [help]\nexamples: [Help me]\ntools: [ask, shell]\nisolation: inline\na2a: true';

export async function served({
  agents = { helper: HELPER },
  settings = '',
  play = () => ({ text: 'Done.' }),
  around,
}: ServedOptions = {}): Promise<Served> {
  const folder = await createTestProject(settings);
  for (const [name, head] of Object.entries(agents))
    await folder.write(`agents/${name}.md`, `---\nname: ${name}\n${head}\n---\nYou work.\n`);
  await folder.serve(play);
  const project = await openProject({ cwd: folder.folder, env: folder.env, lasting: true });
  const tokens = [
    { name: 'user', token: OWNER },
    { name: 'alice', token: ALICE },
    { name: 'bob', token: BOB },
  ];
  const server = await serveProject(project, { tokens, callers: CALLERS, around });
  return {
    ...{ project, folder, errors: server.errors, origin: server.origin },
    client: (token = ALICE, binding = 'JSONRPC', path = '/', version = '1.0') =>
      connect(`${server.origin}${path}`, token, binding, version),
    async fetch(path, { token = ALICE, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (token !== null) headers.set('authorization', `Bearer ${token}`);
      return await fetch(new URL(path, server.origin), { ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** `can`: what a client that does not believe the card takes it for. */
export async function connect(
  url: string,
  token: string,
  binding: Binding,
  version = '1.0',
  can: { readonly streaming?: boolean; readonly pushNotifications?: boolean } = {},
): Promise<Client> {
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
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    new RestTransportFactory({ fetchImpl, legacyCompat }),
    grpc,
  ];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports,
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const factory = new ClientFactory(options);
  if (version === '1.0' && Object.keys(can).length === 0) return await factory.createFromUrl(url);
  // A peer of one version knows only what the card says of that.
  const card = AgentCard.fromJSON(
    await (await fetchImpl(new URL('/.well-known/agent-card.json', url), { headers: { 'a2a-version': '1.0' } })).json(),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version);
  const capabilities = card.capabilities && { ...card.capabilities, ...can };
  return await factory.createFromAgentCard({ ...card, capabilities, supportedInterfaces });
}
