/** `troupe models`: which models there are, what they cost and read, and which one would be used. */

import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { TroupeError } from '../../base/errors.ts';
import { type ListedModels, readModels } from '../../front/project/models.ts';
import { loadConfig } from '../../project/config.ts';
import { readableCount } from '../../projections/readable.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface ModelsOptions extends JsonOption {
  readonly offline?: boolean | undefined;
}

export async function modelsCommand(
  context: CommandContext,
  provider: string | undefined,
  options: ModelsOptions,
): Promise<ExitCode> {
  const { clock, cwd, terminal } = context;
  const config = await loadConfig({ cwd, env: terminal.env });
  if (!config.ok)
    throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), {
      fix: 'Correct the settings and try again.',
    });
  const listed = await readModels(config.value, clock, { provider, offline: options.offline === true });
  if (!listed.ok) throw usageError(listed.error.message, listed.error.fix);
  if (options.json) printJson(context, 'models', listed.value);
  else print(context, listed.value);
  return exitCodes.completed;
}

function print(context: CommandContext, { models, used, providers }: ListedModels): void {
  const { out, progress } = context.terminal;
  const price = (usd: number | undefined): string => (usd === undefined ? '?' : `$${usd}`);
  const cells = models.map((row) => [
    row.used ? '*' : '',
    safeLine(row.name),
    price(row.input),
    price(row.output),
    row.window === undefined ? '?' : readableCount(row.window),
    row.from,
  ]);
  printTable(out, ['', 'MODEL', 'INPUT/M', 'OUTPUT/M', 'WINDOW', 'FROM'], cells);
  for (const { provider, problem } of providers) if (problem !== undefined) progress.prose(`${provider}: ${safeLine(problem)}`);
  const first = used?.models[0];
  progress.prose(
    first === undefined ? `none would be used: ${callOf(context)} doctor says why` : `* ${safeLine(first)} is used: ${used?.why}`,
  );
}
