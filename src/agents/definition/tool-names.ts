/**
 * Which names may stand in `tools` and `permissions`: the built-in tools, and `mcp:server` or `mcp:server/tool`.
 * A permission may also be for `*`, every tool, and for an MCP tool by the name that models see, `server__tool`.
 */

import { suggest } from '../../base/did-you-mean.ts';
import { present } from '../../base/present.ts';
import { type Diagnostic, errorAt, quote } from '../text/diagnostics.ts';
import type { Path, PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';

export const BUILT_IN_TOOLS: readonly string[] = ['read', 'write', 'edit', 'list', 'search', 'shell', 'fetch', 'plan', 'ask'];

export const ALL_ASSISTANT_TOOLS = 'assistants';

/** Tools to find, spawn and talk with other agents; the first stands for all of them. */
export const ASSISTANT_TOOLS: readonly string[] = [
  ALL_ASSISTANT_TOOLS,
  'list_assistant',
  'search_assistant',
  'spawn_assistant',
  'poll_assistant',
  'send_message',
  'recv_message',
  'cancel_assistant',
];

/** What `permissions` may name beside tools: places that only the owner can open. */
const PROTECTED: readonly string[] = ['protected', 'protected:agents', 'protected:settings', 'protected:git'];

const KNOWN = [...BUILT_IN_TOOLS, ...ASSISTANT_TOOLS];

export interface McpReference {
  readonly server: string;
  /** All tools of the server without it. */
  readonly tool?: string;
}

/** `undefined` when the name does not start with `mcp:`. */
export function parseMcpReference(name: string): McpReference | undefined {
  const match = /^mcp:([^/]*)(?:\/(.*))?$/s.exec(name);
  if (match?.[1] === undefined) return undefined;
  return { server: match[1], ...present({ tool: match[2] }) };
}

/** `servers` are the MCP servers of the project's configuration; those of the agent's own file are known as well. */
export function checkToolNames(agent: AgentDefinition, placeOf: PlaceOf, servers: readonly string[]): readonly Diagnostic[] {
  const known = [...new Set([...Object.keys(agent.mcp ?? {}), ...servers])];
  const names: readonly (readonly [string, Path, 'key' | 'value'])[] = [
    ...(agent.tools ?? []).map((name, index) => [name, ['tools', index], 'value'] as const),
    ...Object.keys(agent.permissions ?? {}).map((name) => [name, ['permissions', name], 'key'] as const),
  ];
  return names.flatMap(([name, path, part]) => {
    const problem = part === 'key' ? permissionProblem(name, known) : toolProblem(name, known);
    return problem === undefined ? [] : [errorAt(placeOf(path, part), problem.message, problem.fix)];
  });
}

interface Problem {
  readonly message: string;
  readonly fix?: string | undefined;
}

/** What is wrong about a name under `permissions`. */
export function permissionProblem(name: string, servers: readonly string[]): Problem | undefined {
  if (name === '*' || PROTECTED.includes(name) || servers.some((server) => name.startsWith(`${server}__`))) return undefined;
  return toolProblem(name, servers);
}

function toolProblem(name: string, servers: readonly string[]): Problem | undefined {
  const reference = parseMcpReference(name);
  if (reference === undefined) {
    if (KNOWN.includes(name)) return undefined;
    if (servers.includes(name)) return { message: `unknown tool ${quote(name)}`, fix: `Did you mean "mcp:${name}"?` };
    return { message: `unknown tool ${quote(name)}`, fix: suggest(name, KNOWN, 'tools') };
  }
  if (reference.server === '' || reference.tool === '') {
    return {
      message: `${quote(name)} names no MCP ${reference.server === '' ? 'server' : 'tool'}`,
      fix: 'Write `mcp:server` or `mcp:server/tool`.',
    };
  }
  if (servers.includes(reference.server)) return undefined;
  const fix =
    suggest(reference.server, servers, 'servers') ?? 'Declare it under `mcp:` in this file or in the project configuration.';
  return { message: `unknown MCP server ${quote(reference.server)}`, fix };
}
