/** `troupe cost`: what a run with all below it cost, a session, or every session, by agent and model. */

import { TroupeError } from '../../base/errors.ts';
import { ok } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import { costsValue, readCosts } from '../../front/costs.ts';
import { otherPrices } from '../../front/repricing.ts';
import { type CallCosts, type Costs, costLines } from '../../projections/costs.ts';
import { readableCost, readableCount, readableTokens } from '../../projections/readable.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface CostOptions extends JsonOption {
  /** A file with prices, or a day whose prices are meant. */
  readonly prices?: string | undefined;
}

export async function costCommand(context: CommandContext, text: string | undefined, options: CostOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const { keyEnv: env, providers, prices: overrides } = project.config;
    const sources = { clock: context.clock, env, providers, overrides };
    const other = options.prices === undefined ? ok(undefined) : await otherPrices(options.prices, context.cwd, sources);
    if (!other.ok) throw new TroupeError(other.error.code, other.error.message, { fix: other.error.fix });
    const row = text === undefined ? undefined : await findRun(project.ledger, text);
    const extent = row === undefined ? {} : isNamedBy(row, text ?? '') ? { run: row } : { session: row.session };
    const read = await readCosts(project.ledger, extent, other.value);
    if (options.json) printJson(context, 'cost', costsValue(read));
    else {
      printCosts(context, read.costs);
      const { repriced, gone } = read;
      if (gone > 0)
        context.terminal.progress.prose(
          `${counted(gone, 'session')} collected or forgotten: what was spent there is not known any more, and not in it`,
        );
      if (repriced !== undefined)
        context.terminal.progress.prose(`at the ${repriced.prices}; recorded at the time: ${readableCost(repriced.recorded)}`);
    }
    return exitCodes.completed;
  });
}

const SPARE = ['CACHED', 'CALLS', 'IN', 'OUT', 'MODEL'];

export function printCosts(context: Pick<CommandContext, 'terminal'>, costs: Costs): void {
  const { out, progress } = context.terminal;
  const cells = (spent: CallCosts): readonly string[] => [
    String(spent.calls),
    readableTokens(spent.inputTokens, spent),
    readableTokens(spent.outputTokens, spent),
    readableCount(spent.cacheReadTokens),
    readableCost(spent),
  ];
  const lines = costLines(costs).map((line) => [safeLine(line.agent), safeLine(line.model), ...cells(line)]);
  const rows = [...lines, ['total', '', ...cells(costs.total)]];
  // What is looked for is the price: it stays whole, whatever else has to go.
  printTable(out, ['AGENT', 'MODEL', 'CALLS', 'IN', 'OUT', 'CACHED', 'COST'], rows, ['COST'], SPARE);
  if (costs.inDoubt.calls > 0) {
    const { calls } = costs.inDoubt;
    const them = calls === 1 ? 'it' : 'them';
    progress.prose(
      `${counted(calls, 'call')} cut off or failed, counted against budgets in full; providers may have billed for ${them}`,
    );
  }
}
