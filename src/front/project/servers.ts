/** The MCP servers that agents may name: where each comes from, and whether it may start. */
import type { z } from 'zod';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { present } from '../../base/present.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { type DeclaredServers, type ForeignState, shownForeign, shownOf } from '../../project/servers/declared-servers.ts';
import type { ForeignServer } from '../../project/servers/foreign-servers.ts';
import type { serverList } from '../shapes/files.ts';
import type { GivenOut } from '../shapes/given.ts';

export type ListedServer = GivenOut<z.input<typeof serverList>>['servers'][number];

type Declared = Pick<DeclaredServers, 'open' | 'stateOf' | 'ownOpen'>;

export async function listServers(
  config: ProjectConfig,
  agents: readonly LoadedAgent[],
  declared: Declared,
): Promise<readonly ListedServer[]> {
  const foreign = config.foreign.servers.map(async (one) => listedForeign(one, await declared.stateOf(one)));
  return [...(await ofSettings(config, declared)), ...(await Promise.all(foreign)), ...(await ofAgents(agents, declared))];
}

/** The servers that an agent's tools name, each with where it comes from. */
export async function serversOf(config: ProjectConfig, agent: LoadedAgent, declared: Declared): Promise<readonly ListedServer[]> {
  const all = await listServers(config, [agent], declared);
  const named = new Set((agent.definition.tools ?? []).flatMap((tool) => parseMcpReference(tool)?.server ?? []));
  return [...named].flatMap((name) => {
    const of = (from: ListedServer['from']): ListedServer | undefined =>
      all.find((one) => one.name === name && one.from === from && one.state !== 'shadowed');
    return of('agent') ?? of('settings') ?? of('file') ?? [];
  });
}

function ofSettings({ mcp, mcpFiles }: ProjectConfig, { ownOpen }: Declared): Promise<readonly ListedServer[]> {
  return Promise.all(
    Object.entries(mcp).map(async ([name, config]): Promise<ListedServer> => {
      const open = await ownOpen(name);
      const listed = { name, from: 'settings', source: mcpFiles[name] ?? '' } as const;
      return { ...listed, state: open === undefined ? 'allowed' : 'open', shown: open?.shown ?? shownOf(config) };
    }),
  );
}

function listedForeign(server: ForeignServer, state: ForeignState): ListedServer {
  const { file: source, line } = server.place;
  const reason =
    state.kind === 'refused' ? state.reason : state.kind === 'shadowed' ? `${state.by} has one of this name` : undefined;
  const shown = server.kind === 'sound' ? shownForeign(server) : undefined;
  return { name: server.name, from: 'file', source, line, state: state.kind, ...present({ reason, shown }) };
}

async function ofAgents(agents: readonly LoadedAgent[], declared: Declared): Promise<readonly ListedServer[]> {
  const found: ListedServer[] = [];
  for (const { definition } of agents) {
    const open = await declared.open(definition);
    for (const [name, config] of Object.entries(definition.mcp ?? {})) {
      const isOpen = open.some((one) => one.server === name && one.agent !== undefined);
      const { name: agent, source } = definition;
      found.push({ name, from: 'agent', source, agent, state: isOpen ? 'open' : 'allowed', shown: shownOf(config) });
    }
  }
  return found;
}
