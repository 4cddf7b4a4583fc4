/** `troupe cost`: what a run with all below it cost, a session, or every session, by agent and model. */

import { counted } from '../../base/wording.ts';
import { costsValue, readCosts } from '../../front/costs.ts';
import { type CallCosts, type Costs, costLines } from '../../projections/costs.ts';
import { readableCost, readableCount, readableTokens } from '../../projections/readable.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function costCommand(context: CommandContext, text: string | undefined, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const row = text === undefined ? undefined : await findRun(project.ledger, text);
    const extent = row === undefined ? {} : isNamedBy(row, text ?? '') ? { run: row } : { session: row.session };
    const read = await readCosts(project.ledger, extent);
    if (options.json) printJson(context, 'cost', costsValue(read));
    else printCosts(context, read.costs);
    return exitCodes.completed;
  });
}

function printCosts(context: CommandContext, costs: Costs): void {
  const { out, progress } = context.terminal;
  const cells = (spent: CallCosts): readonly string[] => [
    String(spent.calls),
    readableTokens(spent.inputTokens, spent),
    readableTokens(spent.outputTokens, spent),
    readableCount(spent.cacheReadTokens),
    readableCost(spent),
  ];
  const lines = costLines(costs).map((line) => [safeLine(line.agent), safeLine(line.model), ...cells(line)]);
  printTable(out, ['AGENT', 'MODEL', 'CALLS', 'IN', 'OUT', 'CACHED', 'COST'], [...lines, ['total', '', ...cells(costs.total)]]);
  if (costs.inDoubt.calls > 0) {
    const { calls } = costs.inDoubt;
    const them = calls === 1 ? 'it' : 'them';
    progress.prose(
      `${counted(calls, 'call')} cut off or failed, counted against budgets in full; providers may have billed for ${them}`,
    );
  }
}
