/**
 * MCP servers that an agent's file declares, or a file of another tool. Such a file may be a stranger's, and a server is a
 * command that runs as you: each is started only after a person has allowed exactly this declaration, and what the project's
 * settings deny is not even asked. What was allowed is kept out of the project: `allowed-servers.ts`. Those of the settings are
 * the owner's own; they are asked about only where a run may have changed what they run: `changed-files.ts`.
 */
import { resolve } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import { type Environment, variablesNamed } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import { decide, type Permissions } from '../../tools/permissions.ts';
import { SETTINGS_FILE } from '../../tools/protected-names.ts';
import { minimalEnvironment } from '../../tools/shell/environment.ts';
import type { ProjectConfig } from '../config.ts';
import { type AllowedPeers, createAllowedPeers } from './allowed-peers.ts';
import { type AllowedServers, createAllowedServers, keyOf, type OpenServer } from './allowed-servers.ts';
import { createChangedFiles } from './changed-files.ts';
import type { ForeignServer } from './foreign-servers.ts';
import { namesTooMuch } from './named-files.ts';

/** How it is with a server of another tool's file. */
export type ForeignState =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'open'; readonly open: OpenServer }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'shadowed'; readonly by: string };

export interface DeclaredServers {
  /** Those that the agent's tools need, or that it is itself, and that nobody has allowed yet. */
  open(agent: AgentDefinition): Promise<readonly OpenServer[]>;
  readonly allow: AllowedServers['add'];
  readonly forget: AllowedServers['forget'];
  /** Why a server of the agent may not be started, if one may not. */
  refusal(agent: AgentDefinition): Promise<string | undefined>;
  /** Why this server of another tool's file may not be started as things are now, if it may not. */
  foreignRefusal(name: string): Promise<string | undefined>;
  /** Those of other tools' files that the agent's tools name and that count. */
  foreignOf(agent: AgentDefinition): readonly ForeignServer[];
  stateOf(server: ForeignServer): Promise<ForeignState>;
  /** A server of the settings that waits for a word of the owner, if it does. */
  ownOpen(name: string): Promise<OpenServer | undefined>;
  /** Why this server of the settings may not be started as things are now, if it may not. */
  ownRefusal(name: string): Promise<string | undefined>;
  /** Why an agent that lives elsewhere may not be talked to, if it may not. */
  readonly peerRefusal: AllowedPeers['refusal'];
}

type Settled = Pick<ProjectConfig, 'root' | 'permissions' | 'providers' | 'mcp' | 'foreign'> &
  Partial<Pick<ProjectConfig, 'mcpFiles'>>;

/** `brought`: agents that a program brought along, whose own servers are the program's own choice; so are those it `trusts`. */
export function createDeclaredServers(
  config: Settled,
  env: Environment,
  brought: readonly AgentDefinition[] = [],
  trusts: (server: McpServerConfig) => boolean = () => false,
): DeclaredServers {
  const { root, permissions, mcp, foreign } = config;
  const allowed = createAllowedServers(root, env);
  const peers = createAllowedPeers(config, allowed, brought);
  const own = new Set(brought.flatMap((agent) => Object.values(agent.mcp ?? {}).map((config) => JSON.stringify(config))));
  const strangers = (agent: AgentDefinition) =>
    neededServers(agent).filter(([, config]) => !own.has(JSON.stringify(config)) && !trusts(config));

  const counting = (name: string): ForeignServer | undefined =>
    foreign.servers.find((one) => one.name === name && one.shadowedBy === undefined);
  const foreignOf: DeclaredServers['foreignOf'] = (agent) =>
    namedServers(agent)
      .filter((name) => !Object.hasOwn(agent.mcp ?? {}, name) && !Object.hasOwn(mcp, name))
      .flatMap((name) => counting(name) ?? []);
  const stateOf: DeclaredServers['stateOf'] = async (server) => {
    if (server.shadowedBy !== undefined) return { kind: 'shadowed', by: server.shadowedBy };
    if (server.kind === 'refused') return { kind: 'refused', reason: server.reason };
    const problem = denied(server.name, server.declared, permissions, `of ${server.place.file}`);
    if (problem !== undefined) return { kind: 'refused', reason: problem };
    const unknown = await unknowable(root, server.declared);
    if (unknown !== undefined) return { kind: 'refused', reason: unknown };
    const key = await keyOf(root, server.name, server.declared, 'foreign');
    if (await allowed.has(key)) return { kind: 'allowed' };
    return { kind: 'open', open: { source: server.place.file, server: server.name, shown: shownForeign(server), key } };
  };
  const { ownOpen, ownRefusal } = ownServers(config, env, allowed);
  const open: DeclaredServers['open'] = async (agent) => {
    const found: OpenServer[] = [];
    for (const name of namedServers(agent)) {
      const own = Object.hasOwn(agent.mcp ?? {}, name) ? undefined : await ownOpen(name);
      if (own !== undefined) found.push(own);
    }
    for (const [server, config] of strangers(agent)) {
      const key = await keyOf(root, server, config);
      if (!(await allowed.has(key))) found.push({ agent: agent.name, source: agent.source, server, shown: shownOf(config), key });
    }
    for (const server of foreignOf(agent)) {
      const state = await stateOf(server);
      if (state.kind === 'open') found.push(state.open);
    }
    const peer = await peers.open(agent);
    return peer === undefined ? found : [...found, peer];
  };
  const foreignRefusal: DeclaredServers['foreignRefusal'] = async (name) => {
    const server = counting(name);
    if (server === undefined) return undefined;
    const state = await stateOf(server);
    if (state.kind === 'refused') return notStarted(server, state.reason);
    return state.kind === 'open' ? notAllowed(state.open) : undefined;
  };
  const refusal: DeclaredServers['refusal'] = async (agent) => {
    for (const [server, config] of strangers(agent)) {
      const problem = serverProblem(server, config, permissions, env);
      if (problem !== undefined) return problem;
      const unknown = await unknowable(root, config);
      if (unknown !== undefined)
        return `The MCP server ${JSON.stringify(server)} of the agent's own file is not started: ${unknown}.`;
    }
    for (const { name } of foreignOf(agent)) {
      const problem = await foreignRefusal(name);
      if (problem !== undefined) return problem;
    }
    const [first] = await open(agent);
    return first && notAllowed(first);
  };
  const peerRefusal = peers.refusal;
  return {
    ...{ open, allow: allowed.add, forget: allowed.forget, refusal, foreignRefusal, foreignOf, stateOf, peerRefusal },
    ...{ ownOpen, ownRefusal },
  };
}

type OwnServers = Pick<DeclaredServers, 'ownOpen' | 'ownRefusal'>;

/** Those of the settings: as they are allowed once more, what they run is the owner's again. */
function ownServers({ root, mcp, mcpFiles }: Settled, env: Environment, allowed: AllowedServers): OwnServers {
  const changes = createChangedFiles(root, env, mcp);
  const ownOpen: OwnServers['ownOpen'] = async (name) => {
    const own = Object.hasOwn(mcp, name) ? mcp[name] : undefined;
    const changed = own === undefined ? [] : await changes.changed(own);
    if (own === undefined || changed.length === 0) return undefined;
    const key = await keyOf(root, name, own, 'settings');
    if (await allowed.has(key)) {
      await changes.settle(own);
      return undefined;
    }
    const shown = `${shownOf(own)}; ${changedText(changed)}`;
    return { source: mcpFiles?.[name] ?? SETTINGS_FILE, server: name, shown, changed, key };
  };
  const ownRefusal: OwnServers['ownRefusal'] = async (name) => {
    const waiting = await ownOpen(name);
    return waiting && notAllowed(waiting);
  };
  return { ownOpen, ownRefusal };
}

/** Why a server of another tool's file is never started, in one sentence or two. */
export function notStarted({ name, place }: Pick<ForeignServer, 'name' | 'place'>, reason: string): string {
  if (reason.startsWith('The MCP server')) return reason;
  return (
    `The MCP server ${JSON.stringify(name)} of ${place.file} is not started: ${reason}. ` +
    'Put that right, or declare it under `mcp` in troupe.yaml.'
  );
}

/** Names nothing of the declaration, which may hold keys: whoever hears it is a model, a log or a client. */
function notAllowed({ agent, source, server, changed }: OpenServer): string {
  if (changed !== undefined)
    return (
      `The MCP server ${JSON.stringify(server)} of ${source} is not started: ${changedText(changed)}, and nobody has allowed it ` +
      `since. The owner of the project can look at it and allow it with \`troupe servers allow ${JSON.stringify(server)}\`.`
    );
  const by = agent === undefined ? `by ${source}` : "by the agent's own file";
  const word = agent === undefined ? `servers allow ${JSON.stringify(server)}` : `agents allow ${JSON.stringify(agent)}`;
  return (
    `The MCP server ${JSON.stringify(server)} is declared ${by}, and nobody has allowed it, or it has ` +
    `changed since. The owner of the project can look at it and allow it with \`troupe ${word}\`.`
  );
}

const changedText = (files: readonly string[]): string => {
  const shown = files.slice(0, limits.touchedFilesTold).join(', ');
  const more = files.length > limits.touchedFilesTold ? ' and others' : '';
  return `${shown}${more}, which it runs, changed while a run was at work`;
};

/** Servers of the agent's own file that are never started here, each with the reason: nobody can allow them. */
export function impossibleServers(
  agent: AgentDefinition,
  permissions: readonly Permissions[],
  env: Environment,
): readonly { readonly server: string; readonly problem: string }[] {
  return neededServers(agent).flatMap(([server, config]) => {
    const problem = serverProblem(server, config, permissions, env);
    return problem === undefined ? [] : [{ server, problem }];
  });
}

function serverProblem(
  server: string,
  config: McpServerConfig,
  permissions: readonly Permissions[],
  env: Environment,
): string | undefined {
  return denied(server, config, permissions, "of the agent's own file") ?? unknownVariable(server, config, env);
}

/** Whoever allows a server allows the files that it names: all of them have to be known. */
async function unknowable(root: string, config: McpServerConfig): Promise<string | undefined> {
  if (!('command' in config)) return undefined;
  const why = await namesTooMuch(root, resolve(root, config.cwd ?? '.'), config);
  return why && `its command line ${why}`;
}

/** The servers that its tools name, each once. */
function namedServers({ tools = [] }: AgentDefinition): readonly string[] {
  return [...new Set(tools.flatMap((name) => parseMcpReference(name)?.server ?? []))];
}

/** Those of the agent's own servers that its tools name. */
export function neededServers(agent: AgentDefinition): readonly (readonly [string, McpServerConfig])[] {
  const named = namedServers(agent);
  return Object.entries(agent.mcp ?? {}).filter(([server]) => named.includes(server));
}

/** A command is one whoever starts it: what the settings say of `shell` holds; for an address, what they say of `fetch`. */
function denied(server: string, config: McpServerConfig, permissions: readonly Permissions[], whose: string): string | undefined {
  const like = 'url' in config ? 'fetch' : 'shell';
  const input =
    'url' in config ? { url: config.url } : { command: [config.command, ...(config.args ?? [])].map(quoted).join(' ') };
  if (decide({ name: like, replay: 'never' }, {}, permissions, { input }) !== 'deny') return undefined;
  return (
    `The MCP server ${JSON.stringify(server)} ${whose} is not started: the project's settings deny \`${like}\`. ` +
    'Declare it under `mcp` in troupe.yaml if it should run all the same.'
  );
}

/** One word of a command line, whatever is in it. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Of the environment an agent's file sees what every command sees: any other variable may hold a key. */
function unknownVariable(server: string, config: McpServerConfig, env: Environment): string | undefined {
  const values = Object.values(('url' in config ? config.headers : config.env) ?? {});
  const known = minimalEnvironment(env);
  const missing = variablesNamed(values).find((name) => !Object.hasOwn(known, name));
  if (missing === undefined) return undefined;
  return (
    `The MCP server ${JSON.stringify(server)} of the agent's own file names the variable ${missing}. Agent files see only ` +
    `${Object.keys(known).join(', ')} of your environment. Declare the server under \`mcp\` in troupe.yaml, where every variable counts.`
  );
}

/** All of it, in one line. */
export function shownOf(config: McpServerConfig): string {
  const { env, headers, cwd } = { env: undefined, headers: undefined, cwd: undefined, ...config };
  const more = env ?? headers;
  const what =
    'url' in config ? config.url : [config.command, ...(config.args ?? [])].map((word) => JSON.stringify(word)).join(' ');
  const where = cwd === undefined ? '' : ` in ${JSON.stringify(cwd)}`;
  return more === undefined || Object.keys(more).length === 0
    ? `${what}${where}`
    : `${what}${where} with ${JSON.stringify(more)}`;
}

/** The same of a server whose variables are known, with those that it gets. */
export function shownForeign({ shown, takes }: Extract<ForeignServer, { kind: 'sound' }>): string {
  const given = takes.length === 0 ? '' : `; of your environment it gets ${takes.join(', ')}`;
  return `${shownOf(shown)}${given}`;
}
