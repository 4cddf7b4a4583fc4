/** `troupe query`: one SELECT over the tables that are made of the ledger, as a table, JSON or CSV. */
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { askLedger, type QueriedRows } from '../../front/query/ask.ts';
import { distinctColumns, queriedValue } from '../../front/query/queried-value.ts';
import type { TableCell } from '../../front/query/tables.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface QueryOptions extends JsonOption {
  readonly csv?: boolean | undefined;
  readonly rows?: number | undefined;
  /** In milliseconds. */
  readonly timeout?: number | undefined;
  readonly session?: string | undefined;
}

export async function queryCommand(context: CommandContext, sql: string, options: QueryOptions): Promise<ExitCode> {
  const maxRows = options.rows ?? limits.queryRows;
  if (maxRows > limits.queryRowsMost)
    throw usageError(
      `--rows ${maxRows} is more than ${limits.queryRowsMost} (queryRowsMost)`,
      'ask page by page: LIMIT … OFFSET …',
    );
  const timeoutMs = options.timeout ?? limits.queryMs;
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const session = options.session === undefined ? undefined : (await findRun(ledger, options.session)).session;
    const answer = await askLedger(ledger, sql, { clock: context.clock, timeoutMs, maxRows, session });
    if (!answer.ok) throw new TroupeError(answer.error.code, answer.error.message, { fix: answer.error.fix });
    if (options.json) printJson(context, 'query', queriedValue(answer.value));
    else print(context, { ...answer.value, columns: distinctColumns(answer.value.columns) }, options.csv === true);
    return exitCodes.completed;
  });
}

function print({ terminal: { out, progress } }: CommandContext, table: QueriedRows, asCsv: boolean): void {
  const { columns, rows, cutBy, collected } = table;
  if (asCsv) {
    const safe = out.isTty ? safeLine : (text: string): string => text;
    for (const row of [columns, ...rows]) out.line(safe(row.map(csvCell).join(',')));
  } else
    printTable(
      out,
      columns.map(safeLine),
      rows.map((row) => row.map((cell) => safeLine(cell === null ? '' : String(cell)))),
    );
  if (cutBy === 'queryRows') progress.prose(`there are more rows than ${rows.length} (queryRows): --rows gives more`);
  if (cutBy === 'queryBytes') progress.prose(`there are more rows, and no room for them (queryBytes): ask for fewer columns`);
  if (collected > 0) progress.prose(`of ${counted(collected, 'session')} nothing is left but its runs: it was collected`);
}

/** As RFC 4180 has it; what is null is empty, and an empty text is quoted. */
function csvCell(cell: TableCell): string {
  if (cell === null) return '';
  const text = String(cell);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
