/** The A2A side of `troupe serve`. It is loaded when the first peer asks, or at the start where agents are shown to peers. */
import type { Listening } from '../../http/listen.ts';
import { bearerToken, type Tokens } from '../../http/tokens.ts';
import type { Project } from '../../project/project.ts';
import { shownAgents } from '../../protocols/a2a/shown-agents.ts';
import type { GrpcListening } from '../../protocols/a2a-wire/grpc.ts';
import type { A2aEndpoint } from '../../protocols/a2a-wire/http.ts';
import type { McpCaller, McpNeeds } from '../../protocols/mcp/needs.ts';

export interface ServedA2a extends Pick<A2aEndpoint, 'card' | 'fetch'> {
  /** Whether cards can be signed as the settings want it, where some are shown: throws when they cannot. */
  ready(): Promise<void>;
  /** Goes on with what was under way for peers. Tells which agents are shown, and which should be and are not there. */
  begin(server: Listening): Promise<{ readonly shown: readonly string[]; readonly missing: readonly string[] }>;
  /** Listens for gRPC, too. */
  listen(options: GrpcSettings): Promise<GrpcListening>;
  close(): Promise<void>;
}

export interface GrpcSettings {
  readonly host: string;
  readonly port: number;
  readonly tokens: Tokens;
  readonly owner: string;
}

export interface ServedA2aOptions {
  readonly project: Project;
  readonly mcp: Omit<McpNeeds, 'stopping'>;
  readonly withToken: boolean;
  callerOf(name: string): McpCaller;
  onError(error: Error): void;
}

export function createServedA2a({ project, mcp, withToken, callerOf, onError }: ServedA2aOptions): ServedA2a {
  const { engine, assistants, artifacts, config, groups, ledger } = project;
  const { agents, clock, version, redact } = mcp;
  let loaded: Promise<A2aEndpoint> | undefined;
  let grpc: GrpcListening | undefined;
  let origin = '';
  const endpoint = (): Promise<A2aEndpoint> => {
    loaded ??= import('../../protocols/a2a-wire/http.ts').then(({ createA2aEndpoint }) =>
      createA2aEndpoint(
        {
          ...{ engine, assistants, artifacts, agents, ledger, clock, version, redact, withToken, onError, ids: groups.ids },
          ...{ settings: config.a2a, root: config.root, workspace: config.workspace },
        },
        () => grpc?.port,
      ),
    );
    return loaded;
  };
  const goOnTelling = async (): Promise<void> => {
    const { room } = await endpoint();
    await room.push.takeUp(({ by, asked }) => ({ caller: callerOf(by), tenant: asked.tenant ?? '' }));
  };
  const shownNames = async (): Promise<readonly string[]> =>
    (await shownAgents({ agents, settings: config.a2a })).map(({ name }) => name);
  return {
    async ready() {
      if (config.a2a.key !== undefined && (await shownNames()).length > 0) await (await endpoint()).signs();
    },
    card: async (request) => (await endpoint()).card(request),
    fetch: async (request, caller) => (await endpoint()).fetch(request, caller),
    async begin(server) {
      origin = server.origin;
      const shown = await shownNames();
      const { agents: listed = [], house } = config.a2a;
      const named = house === undefined ? listed : [...listed, house];
      if (shown.length > 0) goOnTelling().catch(onError);
      return { shown, missing: named.filter((name) => !shown.includes(name)) };
    },
    async listen({ host, port, tokens, owner }) {
      const { listenGrpc } = await import('../../protocols/a2a-wire/grpc.ts');
      const known = (authorization: string | undefined): McpCaller | undefined => {
        const token = bearerToken(authorization);
        const name = tokens.open ? owner : token === undefined ? undefined : tokens.ownerOf(token);
        return name === undefined ? undefined : callerOf(name);
      };
      grpc = await listenGrpc((await endpoint()).room, { host, port, origin: () => origin, callerOf: known });
      return grpc;
    },
    async close() {
      await (await loaded)?.close();
      await grpc?.stop();
    },
  };
}
