/** `troupe models`: which models there are, what they cost and read, and which one would be used. */

import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { listModels } from '../../models/listing.ts';
import { type PricedModel, type PricesOptions, pricedModel, pricedModels } from '../../models/prices.ts';
import { providerNames } from '../../models/provider/providers.ts';
import { loadConfig } from '../../project/config.ts';
import { readableCount } from '../../projections/readable.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { defaultModel, type UsedModels } from './used-models.ts';

export interface ModelsOptions extends JsonOption {
  readonly offline?: boolean | undefined;
}

/** `from`: who named it. A model of the table may be one that this account cannot use. */
interface ModelRow extends PricedModel {
  readonly from: 'provider' | 'table' | 'settings';
}

interface ProviderRows {
  readonly provider: string;
  readonly models: readonly ModelRow[];
  /** Why it was not the provider itself that listed them. */
  readonly problem?: string;
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
  const { providers, prices: overrides, keyEnv: env } = config.value;
  const sources = { env, clock, providers, overrides };
  const known = providerNames(sources);
  if (provider !== undefined && !known.includes(provider))
    throw usageError(`There is no provider ${provider}`, suggest(provider, known, 'providers'));
  const offline = options.offline === true;
  const asked = provider === undefined ? known : [provider];
  const [used, ...listed] = await Promise.all([
    defaultModel(context, { config: config.value, offline }),
    ...asked.map((name) => modelsOf(name, sources, offline)),
  ]);
  const chosen = used.ok ? used.value : undefined;
  const rows = [...listed.flatMap(({ models }) => models), ...unlisted(chosen, listed, sources)];
  if (options.json)
    printJson(context, 'models', { models: rows.map((row) => marked(row, chosen)), used: chosen, providers: outlines(listed) });
  else print(context, rows, chosen, listed);
  return exitCodes.completed;
}

async function modelsOf(provider: string, sources: PricesOptions, offline: boolean): Promise<ProviderRows> {
  const found = offline ? undefined : await listModels(provider, sources);
  if (found?.ok === true)
    return { provider, models: found.value.map((one) => ({ ...pricedModel(one.name, sources), ...one, from: 'provider' })) };
  const problem = found?.error ?? 'not asked (--offline)';
  return { provider, models: pricedModels(provider, sources).map((one) => ({ ...one, from: 'table' })), problem };
}

/** What is used is shown, also when nobody lists it. */
function unlisted(used: UsedModels | undefined, listed: readonly ProviderRows[], sources: PricesOptions): readonly ModelRow[] {
  const shown = new Set(listed.flatMap(({ models }) => models.map(({ name }) => name)));
  const asked = new Set(listed.map(({ provider }) => provider));
  return (used?.models ?? [])
    .filter((name) => !shown.has(name) && asked.has(name.slice(0, name.indexOf('/'))))
    .map((name) => ({ ...pricedModel(name, sources), from: 'settings' }));
}

const marked = (row: ModelRow, used: UsedModels | undefined) => ({ ...row, used: used?.models[0] === row.name });

const outlines = (listed: readonly ProviderRows[]) =>
  listed.map(({ provider, problem }) => ({ provider, answered: problem === undefined, ...present({ problem }) }));

function print(
  context: CommandContext,
  rows: readonly ModelRow[],
  used: UsedModels | undefined,
  listed: readonly ProviderRows[],
): void {
  const { out, progress } = context.terminal;
  const price = (usd: number | undefined): string => (usd === undefined ? '?' : `$${usd}`);
  const cells = rows.map((row) => [
    marked(row, used).used ? '*' : '',
    safeLine(row.name),
    price(row.input),
    price(row.output),
    row.window === undefined ? '?' : readableCount(row.window),
    row.from,
  ]);
  printTable(out, ['', 'MODEL', 'INPUT/M', 'OUTPUT/M', 'WINDOW', 'FROM'], cells);
  for (const { provider, problem } of listed) if (problem !== undefined) progress.line(`${provider}: ${safeLine(problem)}`);
  const first = used?.models[0];
  progress.prose(
    first === undefined ? `none would be used: ${callOf(context)} doctor says why` : `* ${safeLine(first)} is used: ${used?.why}`,
  );
}
