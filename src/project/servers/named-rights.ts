/** What is said under `permissions` about tools of MCP servers, held against the tools that these have. */

import { join } from 'node:path';
import type { NamedPlace } from '../../agents/check-project.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import { loadAgent } from '../../agents/file/load.ts';
import type { WrittenRight } from '../../agents/foreign/written-rule.ts';
import { type Diagnostic, errorAt, formatDiagnostic, spellOut } from '../../agents/text/diagnostics.ts';
import { type KnownServer, vainElsewhere, vainRights } from '../../tools/mcp/rights.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';

const FOREIGN = /^\.(claude|opencode)\//;

/** Of the settings, those that stand for nothing. */
export function vainInSettings(named: readonly NamedPlace[], servers: readonly KnownServer[]): readonly Diagnostic[] {
  const problems = vainRights([...new Set(named.map(({ name }) => name))], merged(servers));
  return problems.flatMap(({ right, message, fix }) => {
    const at = named.find(({ name }) => name === right);
    return at === undefined ? [] : [errorAt(at.place, message, fix)];
  });
}

/** Servers of several agents may have the same name. */
function merged(servers: readonly KnownServer[]): readonly KnownServer[] {
  const names = [...new Set(servers.map(({ name }) => name))];
  return names.map((name) => ({ name, tools: servers.filter((one) => one.name === name).flatMap(({ tools }) => tools) }));
}

/** Of an agent's file. `written`: of another tool's agent, how its rights stand there. */
export function vainInAgent(
  { source, permissions }: AgentDefinition,
  servers: readonly KnownServer[],
  written?: readonly WrittenRight[],
): readonly string[] {
  if (FOREIGN.test(source))
    return Object.entries(permissions ?? {}).flatMap(([right, decision]) =>
      // Lists of what is allowed keep old names, and one that allows nothing can harm nobody.
      decision === 'allow' ? [] : vainForeign(right, source, servers, written),
    );
  return vainRights(Object.keys(permissions ?? {}), servers).map(({ message, fix }) =>
    spellOut(`${source}: ${message}${fix === undefined ? '' : `. ${fix}`}`),
  );
}

/** A file whose words are not known any more is named all the same: what has no effect may have been meant as a ban. */
function vainForeign(
  right: string,
  source: string,
  servers: readonly KnownServer[],
  written: readonly WrittenRight[] = [],
): readonly string[] {
  const reference = parseMcpReference(right);
  if (reference === undefined) return [];
  const found = written.filter((one) => one.right === right);
  const places = found.length > 0 ? found : [{ word: right, place: { file: source, line: 1, column: 1 }, isForMany: false }];
  return places.flatMap(({ word, place, isForMany }) => {
    const problem = isForMany ? undefined : vainElsewhere(reference, word, servers);
    return problem === undefined ? [] : [formatDiagnostic(errorAt(place, problem.message, problem.fix))];
  });
}

/** What another tool's files say, read again: a run keeps only what came of it. */
async function writtenIn({ source }: AgentDefinition, root: string): Promise<readonly WrittenRight[]> {
  const origin = FOREIGN.exec(source)?.[1] === 'claude' ? 'claude' : 'opencode';
  const loaded = await loadAgent({ path: join(root, source), root, origin });
  return loaded.ok ? (loaded.value.serverRights ?? []) : [];
}

/** All that is in vain about the servers that an agent uses; it does not run with it, since it may have been meant as a ban. */
export async function vainRightsOf(
  agent: AgentDefinition,
  named: readonly NamedPlace[],
  servers: McpServers,
  /** Of the project. */
  root: string,
): Promise<readonly string[]> {
  const used = (agent.tools ?? []).flatMap((name) => parseMcpReference(name)?.server ?? []);
  const listed = await Promise.all(
    [...new Set(used)].map(async (name): Promise<readonly KnownServer[]> => {
      const tools = await servers.tools(name);
      return tools.ok ? [{ name, tools: tools.value.map((tool) => tool.origin?.tool ?? tool.name) }] : [];
    }),
  );
  const all = listed.flat();
  const vain = vainInAgent(agent, all);
  const inAgent = vain.length > 0 && FOREIGN.test(agent.source) ? vainInAgent(agent, all, await writtenIn(agent, root)) : vain;
  return [...inAgent, ...vainInSettings(named, all).map(formatDiagnostic)];
}
