/**
 * MCP servers that an agent's file declares. Such a file may be a stranger's, and a server is a command that runs as you: each is
 * started only after a person has allowed exactly this declaration, and what the project's settings deny is not even asked.
 *
 * What was allowed is kept in the user's own folder, one file for each, named by the checksum of the declaration: not in the
 * project, which may be a stranger's too. A program or script that the declaration names inside the project counts as a part of
 * it, so a change of either asks anew.
 */

import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { parseMcpReference } from '../agents/definition/tool-names.ts';
import type { Environment } from '../base/environment.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { McpServerConfig } from '../tools/mcp/connection.ts';
import { decide, type Permissions } from '../tools/permissions.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';
import { type ProjectConfig, userFolder } from './config.ts';

export interface DeclaredServer {
  readonly agent: string;
  /** The agent's file. */
  readonly source: string;
  readonly server: string;
  /** The command line or the address, as the file has it. */
  readonly shown: string;
  /** Known by this when it was allowed. */
  readonly key: string;
}

export interface DeclaredServers {
  /** Those that the agent's tools need and nobody has allowed yet. */
  open(agent: AgentDefinition): Promise<readonly DeclaredServer[]>;
  allow(server: DeclaredServer): Promise<Result<void, string>>;
  /** Why the agent's own servers may not be started, if they may not. */
  refusal(agent: AgentDefinition): Promise<string | undefined>;
}

/** `brought`: agents that a program brought along, whose servers are the program's own choice. */
export function createDeclaredServers(
  { root, permissions }: Pick<ProjectConfig, 'root' | 'permissions'>,
  env: Environment,
  brought: readonly AgentDefinition[] = [],
): DeclaredServers {
  const folder = join(userFolder(env), 'allowed-servers');
  const own = new Set(brought.flatMap(({ mcp }) => Object.values(mcp ?? {}).map((config) => JSON.stringify(config))));
  const strangers = (agent: AgentDefinition) => needed(agent).filter(([, config]) => !own.has(JSON.stringify(config)));

  const open: DeclaredServers['open'] = async (agent) => {
    const found: DeclaredServer[] = [];
    for (const [server, config] of strangers(agent)) {
      const key = await keyOf(root, server, config);
      const allowed = (await stat(join(folder, `${key}.json`)).catch(() => undefined)) !== undefined;
      if (!allowed) found.push({ agent: agent.name, source: agent.source, server, shown: shownOf(config), key });
    }
    return found;
  };
  return {
    open,
    async allow({ key, ...said }) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(join(folder, `${key}.json`), `${JSON.stringify({ project: root, ...said }, null, 2)}\n`, { mode: 0o600 });
        return ok(undefined);
      } catch (error) {
        return fail(messageOf(error));
      }
    },
    async refusal(agent) {
      for (const [server, config] of strangers(agent)) {
        const problem = serverProblem(server, config, permissions, env);
        if (problem !== undefined) return problem;
      }
      // The declaration itself may hold keys, and whoever hears this is a model, a log or a client of the server.
      const [first] = await open(agent);
      if (first === undefined) return undefined;
      return (
        `The MCP server ${JSON.stringify(first.server)} is declared by the agent's own file, and nobody has allowed it, or it has ` +
        'changed since. The owner of the project can look at it and allow it with ' +
        `\`troupe agents allow ${JSON.stringify(agent.name)}\`.`
      );
    },
  };
}

/** Servers of the agent's own file that are never started here, each with the reason: nobody can allow them. */
export function impossibleServers(
  agent: AgentDefinition,
  permissions: readonly Permissions[],
  env: Environment,
): readonly { readonly server: string; readonly problem: string }[] {
  return needed(agent).flatMap(([server, config]) => {
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
  return denied(server, config, permissions) ?? unknownVariable(server, config, env);
}

/** Those of the agent's own servers that its tools name. */
function needed({ mcp = {}, tools = [] }: AgentDefinition): readonly (readonly [string, McpServerConfig])[] {
  const named = new Set(tools.flatMap((name) => parseMcpReference(name)?.server ?? []));
  return Object.entries(mcp).filter(([server]) => named.has(server));
}

/** A command is one whoever starts it: what the settings say of `shell` holds; for an address, what they say of `fetch`. */
function denied(server: string, config: McpServerConfig, permissions: readonly Permissions[]): string | undefined {
  const like = 'url' in config ? 'fetch' : 'shell';
  const input =
    'url' in config ? { url: config.url } : { command: [config.command, ...(config.args ?? [])].map(quoted).join(' ') };
  if (decide({ name: like, replay: 'never' }, {}, permissions, { input }) !== 'deny') return undefined;
  return (
    `The MCP server ${JSON.stringify(server)} of the agent's own file is not started: the project's settings deny \`${like}\`. ` +
    'Declare it under `mcp` in troupe.yaml if it should run all the same.'
  );
}

/** One word of a command line, whatever is in it. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Of the environment an agent's file sees what every command sees: any other variable may hold a key. */
function unknownVariable(server: string, config: McpServerConfig, env: Environment): string | undefined {
  const values = Object.values(('url' in config ? config.headers : config.env) ?? {});
  const named = values.flatMap((text) => [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = '']) => name));
  const known = minimalEnvironment(env);
  const missing = named.find((name) => !Object.hasOwn(known, name));
  if (missing === undefined) return undefined;
  return (
    `The MCP server ${JSON.stringify(server)} of the agent's own file names the variable ${missing}. Agent files see only ` +
    `${Object.keys(known).join(', ')} of your environment. Declare the server under \`mcp\` in troupe.yaml, where every variable counts.`
  );
}

function shownOf(config: McpServerConfig): string {
  const { env, headers } = { env: undefined, headers: undefined, ...config };
  const more = env ?? headers;
  const what =
    'url' in config ? config.url : [config.command, ...(config.args ?? [])].map((word) => JSON.stringify(word)).join(' ');
  return more === undefined ? what : `${what} with ${JSON.stringify(more)}`;
}

async function keyOf(root: string, server: string, config: McpServerConfig): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([root, server, sorted(config)]));
  if ('command' in config) {
    const folder = resolve(root, config.cwd ?? '.');
    for (const word of [config.command, ...(config.args ?? [])]) hash.update(`\0${await contentOf(root, resolve(folder, word))}`);
  }
  return hash.digest('hex');
}

function sorted(config: McpServerConfig): unknown {
  return Object.entries(config)
    .filter(([, value]) => value !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** The checksum of a file of the project; empty for anything else. */
async function contentOf(root: string, path: string): Promise<string> {
  const inside = relative(root, path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return '';
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined || !facts.isFile() || facts.size > limits.readFileBytes) return '';
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
}
