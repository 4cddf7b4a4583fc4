/** `troupe ps`: the runs in the ledger and the assistants they have spawned, how each stands and what it needs. */
import { codeOf } from '../../base/errors.ts';
import { type PsRow, readPsRows } from '../../front/run-rows.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { psLines } from './ps-table.ts';

export interface PsOptions extends JsonOption {
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

const DEFAULT_LIMIT = 20;

export async function psCommand(context: CommandContext, options: PsOptions): Promise<ExitCode> {
  // What is shown can be copied: it works in the folder that was asked about.
  const call = callOf(context);
  const rows = (await readRows(context, options)).map((row) => ({
    ...row,
    next: row.next?.replace(/^troupe/, () => call) ?? null,
  }));
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'ps', rows);
  else if (rows.length === 0) progress.line(`no runs yet; start one: ${call} run <agent> "…"`);
  else {
    const lines = psLines(rows, options.all === true, out.isTty ? out.width() : undefined, context.clock.now());
    for (const [index, line] of lines.entries()) out.line(index === 0 ? out.paint.dim(line) : line);
  }
  return exitCodes.completed;
}

/** A project without a ledger has no runs; that is not an error. */
async function readRows(context: CommandContext, options: PsOptions): Promise<readonly PsRow[]> {
  const query = { all: options.all === true, limit: options.limit ?? DEFAULT_LIMIT, now: context.clock.now() };
  try {
    return await withProject(context, { readOnly: true }, ({ ledger }) => readPsRows(ledger, query));
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return [];
    throw error;
  }
}
