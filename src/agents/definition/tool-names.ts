/**
 * Which names may stand in `tools` and `permissions`: the built-in tools, and `mcp:server` or `mcp:server/tool`.
 * A permission may also be for `*`, every tool, for an MCP tool by the name that models see, `server__tool`, and for several
 * tools of a server, `mcp:server/list_*`. Behind the tools that take a command, a path or a host there may stand rules for these.
 */

import { suggest } from '../../base/did-you-mean.ts';
import { present } from '../../base/present.ts';
import { hostPatternProblem, pathPatternProblem } from '../../permissions/place-rules.ts';
import { RULED_TOOLS } from '../../permissions/remembered-rule.ts';
import type { Permission, Rule } from '../../permissions/rule-map.ts';
import { shellPatternProblem } from '../../permissions/shell-rules.ts';
import { type Diagnostic, errorAt, quote } from '../text/diagnostics.ts';
import type { Path, PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';

export const BUILT_IN_TOOLS: readonly string[] = ['read', 'write', 'edit', 'list', 'search', 'shell', 'fetch', 'plan', 'ask'];

/** Of these, those that look, plan and ask: somebody without hands gets no others. */
export const LOOKING_TOOLS: readonly string[] = ['read', 'list', 'search', 'plan', 'ask'];

/** Those that work in a folder. */
export const FOLDER_TOOLS: readonly string[] = ['read', 'write', 'edit', 'list', 'search', 'shell'];

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
const PROTECTED: readonly string[] = [
  'protected',
  ...['agents', 'settings', 'servers', 'git'].map((kind) => `protected:${kind}`),
];

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

/** What names may stand for beside the built-in tools. */
export interface KnownTools {
  /** The MCP servers of the project's configuration; those of the agent's own file are known as well. */
  readonly servers: readonly string[];
  /** Tools that a program has brought along. */
  readonly brought?: readonly string[] | undefined;
}

export function checkToolNames(
  agent: AgentDefinition,
  placeOf: PlaceOf,
  { servers, brought }: KnownTools,
): readonly Diagnostic[] {
  const known = { servers: [...new Set([...Object.keys(agent.mcp ?? {}), ...servers])], brought };
  const tools = (agent.tools ?? []).flatMap((name, index) => {
    const problem = toolProblem(name, known);
    return problem === undefined ? [] : [errorAt(placeOf(['tools', index]), problem.message, problem.fix)];
  });
  const rights = rightsIn(agent.permissions ?? {}).flatMap(({ path, ...right }) => {
    const problem = permissionProblem(right, known);
    return problem === undefined ? [] : [errorAt(placeOf(['permissions', ...path], 'key'), problem.message, problem.fix)];
  });
  return [...tools, ...rights];
}

/** A name under `permissions`, or one of the patterns behind it. */
export interface NamedRight {
  readonly name: string;
  readonly pattern?: string | undefined;
  /** What is said about it; nothing where patterns follow. */
  readonly permission?: Permission | undefined;
}

export function rightsIn(permissions: Readonly<Record<string, Rule>>): readonly (NamedRight & { readonly path: Path })[] {
  return Object.entries(permissions).flatMap(([name, rule]) => [
    { name, path: [name], ...(typeof rule === 'string' ? { permission: rule } : {}) },
    ...(typeof rule === 'string'
      ? []
      : Object.entries(rule).map(([pattern, permission]) => ({ name, pattern, permission, path: [name, pattern] }))),
  ]);
}

interface Problem {
  readonly message: string;
  readonly fix?: string | undefined;
}

/** What is wrong about what stands under `permissions`. */
export function permissionProblem({ name, pattern }: NamedRight, known: KnownTools): Problem | undefined {
  if (pattern !== undefined) return patternProblem(name, pattern);
  const isSpecial = name === '*' || PROTECTED.includes(name) || known.servers.some((server) => name.startsWith(`${server}__`));
  return isSpecial ? undefined : toolProblem(name, known);
}

function patternProblem(name: string, pattern: string): Problem | undefined {
  if (name === 'shell') return shellPatternProblem(pattern);
  if (name === 'fetch') return hostPatternProblem(pattern);
  if (RULED_TOOLS.includes(name)) return pathPatternProblem(pattern);
  const fix = `Write one of allow, ask, deny. Rules are for ${RULED_TOOLS.join(', ')}.`;
  return { message: `${quote(name)} takes one word and no rules`, fix };
}

/** What other tools call ours. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ bash: 'shell', sh: 'shell', exec: 'shell', execute: 'shell', terminal: 'shell', command: 'shell', run: 'shell' },
  ...{ grep: 'search', find: 'list', glob: 'list', ls: 'list', cat: 'read', view: 'read', open: 'read' },
  ...{ multiedit: 'edit', patch: 'edit', replace: 'edit', create: 'write', webfetch: 'fetch', curl: 'fetch', http: 'fetch' },
  ...{ todowrite: 'plan', todo: 'plan', question: 'ask', askuserquestion: 'ask', task: 'spawn_assistant' },
};

function toolHint(name: string, brought: readonly string[]): string | undefined {
  const ours = ELSEWHERE[name.toLowerCase().replaceAll(/[-_\s]/g, '')];
  return ours === undefined ? suggest(name, [...KNOWN, ...brought], 'tools') : `Here it is called "${ours}".`;
}

function toolProblem(name: string, { servers, brought = [] }: KnownTools): Problem | undefined {
  const reference = parseMcpReference(name);
  if (reference === undefined) {
    if (KNOWN.includes(name) || brought.includes(name)) return undefined;
    if (servers.includes(name)) return { message: `unknown tool ${quote(name)}`, fix: `Did you mean "mcp:${name}"?` };
    return { message: `unknown tool ${quote(name)}`, fix: toolHint(name, brought) };
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
