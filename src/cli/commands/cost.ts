/** `troupe cost`: what a run's session cost, or every session, by agent and model. */

import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Project } from '../../project/project.ts';
import { type CallCosts, type Costs, costLines, foldCosts, initialCosts } from '../../projections/costs.ts';
import { readableCost, readableCount } from '../../projections/readable.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function costCommand(context: CommandContext, text: string | undefined, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const sessions = await sessionsOf(project, text);
    let costs = initialCosts();
    for (const session of sessions) costs = await foldSession(project.ledger, session, costs, foldCosts);
    if (options.json) {
      const { total, inDoubt } = costs;
      printJson(context, 'cost', { sessions: sessions.length, lines: costLines(costs), total, inDoubt });
    } else printCosts(context, costs);
    return exitCodes.completed;
  });
}

async function sessionsOf({ ledger }: Project, text: string | undefined): Promise<readonly SessionId[]> {
  if (text !== undefined) return [(await findRun(ledger, text)).session];
  const rows = await ledger.runs({ roots: true, limit: limits.runLookup });
  return [...new Set(rows.map((row) => row.session))];
}

function printCosts(context: CommandContext, costs: Costs): void {
  const { out, progress } = context.terminal;
  const cells = (spent: CallCosts): readonly string[] => [
    String(spent.calls),
    readableCount(spent.inputTokens),
    readableCount(spent.outputTokens),
    readableCount(spent.cacheReadTokens),
    readableCost(spent),
  ];
  const lines = costLines(costs).map((line) => [safeLine(line.agent), safeLine(line.model), ...cells(line)]);
  printTable(out, ['AGENT', 'MODEL', 'CALLS', 'IN', 'OUT', 'CACHED', 'COST'], [...lines, ['total', '', ...cells(costs.total)]]);
  if (costs.inDoubt.calls > 0) {
    const { calls } = costs.inDoubt;
    const them = calls === 1 ? 'it' : 'them';
    progress.line(
      `${counted(calls, 'call')} cut off or failed, counted against budgets in full; providers may have billed for ${them}`,
    );
  }
}
