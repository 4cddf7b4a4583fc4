/** `troupe logs`: what happened, event by event; with `-f` also what is happening. */

import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { belongsTo } from '../../front/standing.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { type Level, timelineLine } from '../../projections/timeline.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, callOf, printJson, requestAsCalled, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { isAtLeast, shownLines } from '../view/plain-lines.ts';

export interface LogsOptions {
  readonly follow?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly jsonl?: boolean | undefined;
  readonly level: Level;
}

export async function logsCommand(context: CommandContext, text: string, options: LogsOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const row = await findRun(project.ledger, text);
    const collected: LedgerEvent[] = [];
    const print = printer(context, options, collected);
    const belongs = belongsTo(row.run);
    if (options.follow) await followLogs(context, project, row, belongs, print);
    else for await (const event of readEvents(project.ledger, { session: row.session })) if (belongs(event)) print(event);
    if (options.json && !options.jsonl) printJson(context, 'logs', collected);
    return exitCodes.completed;
  });
}

/** Until the run ends, or somebody presses Ctrl-C. */
async function followLogs(
  context: CommandContext,
  { ledger }: Project,
  row: RunRow,
  belongs: (event: LedgerEvent) => boolean,
  print: (event: LedgerEvent) => void,
): Promise<void> {
  const stop = new AbortController();
  const { progress } = context.terminal;
  const stopListening = context.terminal.onStop(() => {
    stop.abort();
    // The terminal has shown the key: what the shell says next begins on a line of its own.
    if (progress.isTty) progress.line();
  });
  try {
    for await (const event of ledger.tail(row.session, 0, stop.signal)) {
      if (!belongs(event)) continue;
      print(event);
      if (event.event_type === 'run.ended' && event.run_id === row.run) return;
    }
  } finally {
    stopListening();
    stop.abort();
  }
}

function printer(context: CommandContext, options: LogsOptions, collected: LedgerEvent[]): (event: LedgerEvent) => void {
  const { out } = context.terminal;
  const agents = new Map<RunId, string>();
  const call = callOf(context);
  if (options.jsonl) return (event) => out.line(JSON.stringify(event));
  if (options.json) return (event) => void collected.push(event);
  return (event) => {
    const line = timelineLine(agents, event);
    const shown = { ...line, text: requestAsCalled(line.text, call) };
    if (isAtLeast(line.level, options.level)) for (const text of shownLines(shown, out)) out.line(text);
  };
}
