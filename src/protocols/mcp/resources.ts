/**
 * Agents, runs and what runs left behind, as MCP resources. The lists are in pages and read what is there at that moment;
 * an address that leads nowhere, or to a run that this caller may not see, is answered as unknown.
 */

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { findVisibleRun, visibleRuns } from '../../front/sight.ts';
import type { RunRow } from '../../ledger/port.ts';
import { firstLine } from '../../projections/readable.ts';
import { artifactsOf, readArtifact } from '../artifacts.ts';
import { agentsFor, type McpCaller, type McpNeeds } from './needs.ts';
import { pageOf } from './pages.ts';
import { runLog, runSummary } from './runs.ts';
import { agentAddress, artifactAddress, parseAddress, type ResourceAddress, runAddress } from './uris.ts';

const JSON_TYPE = 'application/json';
const DESCRIPTION_CHARACTERS = 300;

export const resourceTemplates = [
  {
    uriTemplate: 'troupe://agents/{name}',
    name: 'agent',
    title: 'An agent',
    description: 'What the agent’s file says: its settings as JSON and its prompt as markdown.',
  },
  {
    uriTemplate: 'troupe://runs/{run}',
    name: 'run',
    title: 'A run',
    description: 'State, answer, cost and the tree of runs below it. A process_id is the id of a run.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'troupe://runs/{run}/log',
    name: 'run-log',
    title: 'The log of a run',
    description: 'What happened, a line for each step, the last ones if there are many.',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: 'troupe://runs/{run}/artifacts',
    name: 'run-artifacts',
    title: 'The files a run changed',
    description: 'Every file that the run changed, with its SHA-256.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'troupe://runs/{run}/artifacts/{+path}',
    name: 'run-artifact',
    title: 'A file a run changed',
    description: 'The content of the file, as long as it still is what the run left.',
  },
];

export function serveResources({ server }: McpServer, needs: McpNeeds, caller: McpCaller): void {
  server.setRequestHandler('resources/list', async ({ params }) => {
    const agents = (await agentsFor(needs, caller)).map(agentEntry);
    const runs = (await visibleRuns(needs.ledger, caller)).map(runEntry);
    const { entries, ...rest } = pageOf([...agents, ...runs], (entry) => entry.uri, params?.cursor);
    return { resources: [...entries], ...rest };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const address = parseAddress(uri);
    const found = address === undefined ? undefined : await readResource(needs, caller, address, uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return found;
  });
}

function agentEntry({ name, description }: AgentDefinition): Resource {
  return {
    uri: agentAddress(name),
    name,
    ...present({ description: description && firstLine(description, DESCRIPTION_CHARACTERS) }),
  };
}

function runEntry({ run, agent, state, startedAt }: RunRow): Resource {
  const began = new Date(startedAt).toISOString();
  return {
    uri: runAddress(run),
    name: run,
    title: `${agent}, ${began}`,
    description: `A run of ${agent}: ${state}`,
    mimeType: JSON_TYPE,
  };
}

async function readResource(
  needs: McpNeeds,
  caller: McpCaller,
  address: ResourceAddress,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  if (address.kind === 'agent') return await readAgent(needs, caller, address.name, uri);
  const row = await findVisibleRun(needs.ledger, caller, address.run);
  if (row === undefined) return undefined;
  switch (address.kind) {
    case 'run': {
      const summary = await runSummary(needs.ledger, row);
      return summary && jsonContents(uri, summary);
    }
    case 'log':
      return { contents: [{ uri, mimeType: 'text/plain', text: await runLog(needs.ledger, row) }] };
    case 'artifacts': {
      const files = (await artifactsOf(needs.ledger, row)).map(({ path, sha256, run }) => {
        return { path, sha256, run, uri: artifactAddress(row.run, path) };
      });
      const more = Math.max(0, files.length - limits.resourceLines);
      return jsonContents(uri, { run: row.run, files: files.slice(0, limits.resourceLines), more_files: more });
    }
    case 'artifact':
      return await readFile(needs, row, address.path, uri);
  }
}

async function readAgent(needs: McpNeeds, caller: McpCaller, name: string, uri: string): Promise<ReadResourceResult | undefined> {
  const agent = (await agentsFor(needs, caller)).find((one) => one.name === name);
  if (agent === undefined) return undefined;
  const { prompt, ...settings } = agent;
  const shown = { ...settings, ...present({ mcp: agent.mcp && withoutSecrets(agent.mcp) }) };
  return { contents: [...jsonContents(uri, shown).contents, { uri, mimeType: 'text/markdown', text: prompt }] };
}

/**
 * What starts or reaches an agent's servers may hold keys: of the environment, the headers and the address's query a client gets
 * the names, of the arguments their number.
 */
function withoutSecrets(servers: NonNullable<AgentDefinition['mcp']>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      if ('url' in server) return [name, { ...server, url: bareUrl(server.url), headers: Object.keys(server.headers ?? {}) }];
      return [name, { ...server, args: server.args?.length ?? 0, env: Object.keys(server.env ?? {}) }];
    }),
  );
}

/** Without user, password and what the query says; a path may hold a key as well, so only its beginning is shown. */
function bareUrl(address: string): string {
  if (!URL.canParse(address)) return '(not an address)';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : '/…'}`;
}

async function readFile(needs: McpNeeds, row: RunRow, path: string, uri: string): Promise<ReadResourceResult | undefined> {
  const artifact = (await artifactsOf(needs.ledger, row)).find((one) => one.path === path);
  if (artifact === undefined) return undefined;
  const content = await readArtifact(needs, artifact);
  if (!content.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, content.error, { uri });
  const mimeType = 'text' in content.value ? 'text/plain' : 'application/octet-stream';
  return { contents: [{ uri, mimeType, ...content.value }] };
}

function jsonContents(uri: string, value: unknown): ReadResourceResult {
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value, null, 2) }] };
}
