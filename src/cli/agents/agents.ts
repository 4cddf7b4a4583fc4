/** `troupe agents list|show`: which agents there are, where they come from, and what each says. */

import { hasOwnModels } from '../../agents/definition/executor.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { isError } from '../../agents/text/diagnostics.ts';
import { agentLineOf, modelsHere } from '../../front/project/agent-lines.ts';
import { serversOf } from '../../front/project/servers.ts';
import { createDeclaredServers } from '../../project/servers/declared-servers.ts';
import { firstLine } from '../../projections/readable.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { type CommandContext, callOf, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { readAgentFiles, settingsOf } from './files.ts';
import { describeServer } from './servers.ts';

const DESCRIPTION_CHARACTERS = 100;

export async function agentsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const { agents, diagnostics } = await readAgentFiles(context);
  const { out, progress } = context.terminal;
  if (options.json) {
    printJson(context, 'agents list', agents.map(agentLineOf));
    return exitCodes.completed;
  }
  if (agents.length === 0) progress.line(`no agents yet; ${callOf(context)} init writes one`);
  else {
    const rows = agents.map(({ definition, origin, disabled }) => [
      safeLine(definition.name),
      disabled ? `${origin}, off` : origin,
      safeLine(modelText(definition)),
      safeLine(definition.source),
      safeLine(firstLine(definition.description ?? '', DESCRIPTION_CHARACTERS)),
    ]);
    printTable(out, ['AGENT', 'FROM', 'MODEL', 'FILE', 'DESCRIPTION'], rows);
  }
  const errors = diagnostics.filter(isError).length;
  if (errors > 0) progress.line(`${errors} problems in agent files: ${callOf(context)} check`);
  return exitCodes.completed;
}

export async function agentsShowCommand(context: CommandContext, word: string, options: JsonOption): Promise<ExitCode> {
  const files = await readAgentFiles(context);
  const agent = await findAgent(files, word, await agentFileOf(context.cwd, word));
  const uses = files.edges.filter((edge) => edge.from === agent.definition.name);
  const config = await settingsOf(context);
  const servers = await serversOf(config, agent, createDeclaredServers(config, context.terminal.env));
  const models = modelsHere(agent.definition);
  const { out } = context.terminal;
  if (options.json) printJson(context, 'agents show', { ...agent.definition, models, origin: agent.origin, uses, servers });
  else {
    const { prompt, ...settings } = agent.definition;
    const shown = { ...settings, models: hasOwnModels(settings) ? undefined : models };
    for (const [key, value] of Object.entries(shown)) {
      if (value !== undefined)
        out.line(`${out.paint.dim(key)}  ${safeLine(typeof value === 'string' ? value : JSON.stringify(value))}`);
    }
    for (const edge of uses) out.line(`${out.paint.dim('uses')}  ${safeLine(edge.to)} (${edge.kind})`);
    for (const server of servers)
      out.line(`${out.paint.dim('server')}  ${safeLine(server.name)} (${safeLine(describeServer(server))})`);
    out.line();
    out.line(safeText(prompt));
  }
  return exitCodes.completed;
}

function modelText({ remote, executor, models }: LoadedAgent['definition']): string {
  if (executor !== undefined) return `${executor.name}${executor.model === undefined ? '' : ` (${executor.model})`}, an executor`;
  if (remote !== undefined) return `its own, at ${URL.parse(remote.card)?.host ?? remote.card}`;
  return models.join(', ') || '(default)';
}
