/** The tools of each agent: built-ins, the project's MCP servers, those of other tools' files, and those of the agent's own. */

import type { NamedPlace } from '../agents/check-project.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { ALL_ASSISTANT_TOOLS, ASSISTANT_TOOLS } from '../agents/definition/tool-names.ts';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { Random } from '../base/random.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { BuiltIns } from '../tools/built-ins.ts';
import type { ProtectedPlaces } from '../tools/closed/guard.ts';
import type { FindsSecrets } from '../tools/files/shown-text.ts';
import type { McpServerConfig } from '../tools/mcp/connection.ts';
import type { McpServers } from '../tools/mcp/servers.ts';
import type { Tool } from '../tools/port.ts';
import { createToolset } from '../tools/registry.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';
import { type Watching, whileWatching } from './servers/changed-files.ts';
import type { DeclaredServers } from './servers/declared-servers.ts';
import type { ForeignServer } from './servers/foreign-servers.ts';
import { vainRightsOf } from './servers/named-rights.ts';

export interface ToolsetsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: FindsSecrets;
  readonly env: Environment;
  /** With the keys of the project's `.env`, for what its settings name for MCP servers. */
  readonly keyEnv: Environment;
  /** Where MCP servers are started. */
  readonly folder: string;
  readonly mcp: Readonly<Record<string, McpServerConfig>>;
  /** What the settings say under `permissions`, by name. */
  readonly named: readonly NamedPlace[];
  /** Started only for an agent that `declared` does not refuse. */
  readonly foreign: readonly ForeignServer[];
  /** What the built-in tools keep agents out of. */
  readonly places: ProtectedPlaces;
  /** What commands run in. */
  readonly sandbox: Sandbox;
  readonly declared: Pick<DeclaredServers, 'refusal' | 'foreignRefusal' | 'ownRefusal'>;
  /** Before a call that may change files. */
  readonly watching: Watching;
  /** Tools to find, spawn and talk with other agents; loaded with the first agent that uses one. */
  assistants(): Promise<readonly Tool[]>;
  /** Tools of an embedding program, beside the built-in ones. */
  readonly tools?: readonly Tool[] | undefined;
}

export interface Toolsets {
  of(agent: AgentDefinition): Promise<Result<readonly Tool[], string>>;
  close(): Promise<void>;
}

export function createToolsets(options: ToolsetsOptions): Toolsets {
  const { clock, random, env, folder, places, sandbox, secrets } = options;
  const own: BuiltIns = new Map((options.tools ?? []).map((tool) => [tool.name, () => tool]));
  // Loaded with the first agent that uses one.
  const builtInsFor = async (names: readonly string[]): Promise<BuiltIns> => {
    const known = new Map<string, () => Tool>(own);
    if (names.some((name) => ASSISTANT_TOOLS.includes(name)))
      for (const tool of await options.assistants()) if (!known.has(tool.name)) known.set(tool.name, () => tool);
    if (names.every((name) => known.has(name) || name.startsWith('mcp:'))) return known;
    const { createBuiltIns } = await import('../tools/built-ins.ts');
    return new Map([...createBuiltIns({ clock, random, environment: env, places, sandbox, secrets }), ...known]);
  };
  const mcpOptions = { clock, environment: options.keyEnv, folder };
  let shared: Promise<McpServers> | undefined;
  const byAgent = new Map<string, Promise<McpServers>>();

  // The protocol is loaded with the first agent that uses a server.
  const sharedServers = (): Promise<McpServers> => {
    shared ??= import('../tools/mcp/servers.ts').then(({ createMcpServers }) => {
      const own = createMcpServers(options.mcp, { ...mcpOptions, mayStart: options.declared.ownRefusal });
      const mayStart = options.declared.foreignRefusal;
      const foreign = createMcpServers(foreignConfigs(options.foreign), { ...mcpOptions, verbatim: true, mayStart });
      const close = async (): Promise<void> => void (await Promise.all([own.close(), foreign.close()]));
      return { ...both(own, foreign), close };
    });
    return shared;
  };
  const ownServers = async (agent: AgentDefinition): Promise<McpServers> => {
    const { createMcpServers } = await import('../tools/mcp/servers.ts');
    const mayStart = (): Promise<string | undefined> => options.declared.refusal(agent);
    const own = createMcpServers(agent.mcp ?? {}, { ...mcpOptions, environment: minimalEnvironment(env), mayStart });
    return both(own, await sharedServers());
  };
  const serversOf = async (agent: AgentDefinition): Promise<McpServers | undefined> => {
    if (agent.tools?.some((name) => name.startsWith('mcp:')) !== true) return undefined;
    if (agent.mcp === undefined) return await sharedServers();
    // A file that has changed since declares others.
    const key = JSON.stringify([agent.source, agent.mcp]);
    const made = byAgent.get(key) ?? ownServers(agent);
    byAgent.set(key, made);
    return await made;
  };
  return {
    async of(agent) {
      if (agent.tools === undefined || agent.tools.length === 0) return ok([]);
      const refusal = await options.declared.refusal(agent);
      if (refusal !== undefined) return fail(refusal);
      const names = agent.tools.flatMap((name) => (name === ALL_ASSISTANT_TOOLS ? ASSISTANT_TOOLS.slice(1) : [name]));
      const builtIns = await builtInsFor(names);
      const mcp = await serversOf(agent);
      const made = await createToolset({ names, builtIns, mcp });
      const vain = mcp === undefined || !made.ok ? [] : await vainRightsOf(agent, options.named, mcp, folder);
      if (vain.length > 0) return fail(vain.join('\n'));
      if (made.ok) return ok(made.value.map((tool) => watched(tool, options.watching)));
      return fail(made.error.map(({ message, fix }) => (fix === undefined ? message : `${message} ${fix}`)).join('\n'));
    },
    async close() {
      const started = await Promise.all([...byAgent.values(), ...(shared === undefined ? [] : [shared])]);
      await Promise.all(started.map((servers) => servers.close()));
    },
  };
}

/** Whatever it changes of what servers run is known afterwards, also when the process dies meanwhile. */
function watched(tool: Tool, watching: Watching): Tool {
  // What a tool of a server says of itself is a stranger's word.
  if (tool.kind !== undefined || (tool.readOnly === true && tool.origin === undefined)) return tool;
  return { ...tool, run: (input, context) => whileWatching(watching, () => tool.run(input, context)) };
}

function both(near: McpServers, far: McpServers): McpServers {
  return {
    names: [...near.names, ...far.names],
    tools: (server) => (near.names.includes(server) ? near : far).tools(server),
    close: () => near.close(),
  };
}

function foreignConfigs(servers: readonly ForeignServer[]): Readonly<Record<string, McpServerConfig>> {
  const sound = servers.filter((one) => one.kind === 'sound' && one.shadowedBy === undefined);
  return Object.fromEntries(sound.flatMap((one) => (one.kind === 'sound' ? [[one.name, one.started()]] : [])));
}
