/** Completes what a person types into an address or a prompt: names of agents, runs, and files of a run. */
import { type CompleteResult, type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { limits } from '../../base/limits.ts';
import { findVisibleRun, visibleRuns } from '../../front/sight.ts';
import { artifactsOf } from '../artifacts.ts';
import { agentsFor, type McpCaller, type McpNeeds } from './needs.ts';
import { resourceTemplates } from './resources.ts';

export function serveCompletion({ server }: McpServer, needs: McpNeeds, caller: McpCaller): void {
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context } }) => {
    if (ref.type === 'ref/prompt') {
      const known = (await agentsFor(needs, caller)).some((agent) => agent.name === ref.name);
      if (!known) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${ref.name}"`);
      return completion([]);
    }
    if (!resourceTemplates.some((template) => template.uriTemplate === ref.uri))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource template "${ref.uri}"`);
    const values = await candidates(needs, caller, argument.name, context?.arguments ?? {});
    return completion(values.filter((value) => value.toLowerCase().startsWith(argument.value.toLowerCase())));
  });
}

async function candidates(
  needs: McpNeeds,
  caller: McpCaller,
  variable: string,
  given: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  if (variable === 'name') return (await agentsFor(needs, caller)).map((agent) => agent.name);
  if (variable === 'run') return (await visibleRuns(needs.ledger, caller)).map((row) => row.run);
  if (variable !== 'path' || given['run'] === undefined) return [];
  const row = await findVisibleRun(needs.ledger, caller, given['run']);
  return row === undefined ? [] : (await artifactsOf(needs.ledger, row)).map((artifact) => artifact.path);
}

function completion(all: readonly string[]): CompleteResult {
  const values = all.slice(0, limits.listPage);
  return { completion: { values, total: all.length, hasMore: all.length > values.length } };
}
