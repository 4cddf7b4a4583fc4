/** `troupe agents search`: who could do it, asked in plain words. Works without a ledger, and with one that cannot be written. */

import { createFileSource } from '../../agents/registry/files.ts';
import { createRegistry, type RegistryItem } from '../../agents/registry/registry.ts';
import { userFolder } from '../../project/config.ts';
import { firstLine } from '../../projections/readable.ts';
import { type CommandContext, callOf, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { settingsOf } from './files.ts';

export interface AgentsSearchOptions extends JsonOption {
  readonly limit?: number | undefined;
}

const RESULTS = 10;
const DESCRIPTION_CHARACTERS = 100;

export async function agentsSearchCommand(
  context: CommandContext,
  words: readonly string[],
  options: AgentsSearchOptions,
): Promise<ExitCode> {
  const found = await search(context, words.join(' '), options.limit ?? RESULTS);
  if (options.json) printJson(context, 'agents search', found);
  else if (found.length === 0)
    context.terminal.progress.prose(`no agent has any of these words; all there are: ${callOf(context)} agents list`);
  else {
    const rows = found.map(({ name, origin, tags, description }) => [
      safeLine(name),
      origin,
      tags.map(safeLine).join(', '),
      safeLine(firstLine(description, DESCRIPTION_CHARACTERS)),
    ]);
    printTable(context.terminal.out, ['AGENT', 'FROM', 'TAGS', 'DESCRIPTION'], rows);
  }
  return exitCodes.completed;
}

async function search(context: CommandContext, query: string, limit: number): Promise<readonly RegistryItem[]> {
  const { clock, terminal } = context;
  const { root, ledger, vars } = await settingsOf(context);
  const variables = Object.keys(vars);
  const { agents } = createFileSource({ projectRoot: root, userConfigDir: userFolder(terminal.env), variables, clock });
  const registry = createRegistry({ path: ledger, agents, clock });
  try {
    return await registry.search(query, limit);
  } finally {
    registry.close();
  }
}
