/** `troupe ps`: the runs in the ledger, newest first, and what each needs. */
import { codeOf } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';
import type { RunRow } from '../ledger/port.ts';
import { readableDuration } from '../projections/readable.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { nextCommand, stateOf } from './find-run.ts';
import { safeLine } from './safe-text.ts';
import { printTable } from './table.ts';

export interface PsOptions extends JsonOption {
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

const DEFAULT_LIMIT = 20;

export async function psCommand(context: CommandContext, options: PsOptions): Promise<ExitCode> {
  const rows = await readRows(context, options);
  const { terminal, clock } = context;
  if (options.json) {
    printJson(
      context,
      rows.map((row) => ({ ...row, state: stateOf(row), next: nextCommand(row) ?? null })),
    );
  } else if (rows.length === 0) terminal.progress.line('no runs yet; start one: troupe run <agent> "…"');
  else {
    const now = clock.now();
    const heading = ['RUN', 'AGENT', 'STATE', 'STARTED', 'TOOK', 'NEXT'];
    printTable(
      terminal.out,
      heading,
      rows.map((row) => cellsOf(row, now)),
    );
  }
  return exitCodes.completed;
}

/** A project without a ledger has no runs; that is not an error. */
async function readRows(context: CommandContext, options: PsOptions): Promise<readonly RunRow[]> {
  try {
    return await withProject(context, { readOnly: true }, ({ ledger }) =>
      ledger.runs({ roots: options.all !== true, limit: options.limit ?? DEFAULT_LIMIT }),
    );
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return [];
    throw error;
  }
}

function cellsOf(row: RunRow, now: number): readonly string[] {
  const owner = row.owner === null ? '-' : `pid ${row.owner.pid}`;
  return [
    shortId(row.run),
    safeLine(row.agent),
    stateOf(row).replaceAll('_', ' '),
    `${readableDuration(now - row.startedAt)} ago`,
    row.endedAt === null ? owner : readableDuration(row.endedAt - row.startedAt),
    nextCommand(row) ?? '',
  ];
}
