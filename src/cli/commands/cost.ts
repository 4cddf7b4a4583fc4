/** `troupe cost`: what a run with all below it cost, a session, or every session, by agent and model. */

import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Project } from '../../project/project.ts';
import { type CallCosts, type Costs, costLines, foldCosts, initialCosts } from '../../projections/costs.ts';
import { readableCost, readableCount } from '../../projections/readable.ts';
import { belongsTo, findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function costCommand(context: CommandContext, text: string | undefined, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const { sessions, counts } = await extentOf(project, text);
    let costs = initialCosts();
    const fold = (sum: Costs, event: LedgerEvent): Costs => (counts(event) ? foldCosts(sum, event) : sum);
    for (const session of sessions) costs = await foldSession(project.ledger, session, costs, fold);
    if (options.json) {
      const { total, inDoubt } = costs;
      printJson(context, 'cost', { sessions: sessions.length, lines: costLines(costs), total, inDoubt });
    } else printCosts(context, costs);
    return exitCodes.completed;
  });
}

interface Extent {
  readonly sessions: readonly SessionId[];
  /** Of each event of them, in order: whether it is one of those that were asked about. */
  readonly counts: (event: LedgerEvent) => boolean;
}

async function extentOf({ ledger }: Project, text: string | undefined): Promise<Extent> {
  const all = (): boolean => true;
  if (text === undefined) {
    const rows = await ledger.runs({ roots: true, limit: limits.runLookup });
    return { sessions: [...new Set(rows.map((row) => row.session))], counts: all };
  }
  const row = await findRun(ledger, text);
  return { sessions: [row.session], counts: isNamedBy(row, text) ? belongsTo(row.run) : all };
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
