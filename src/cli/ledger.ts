/** `troupe ledger stats|verify|gc`: how large it is, whether it is whole, and making it smaller. */
import { parseDuration } from '../agents/duration.ts';
import { readableBytes } from '../projections/readable.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findRun } from './find-run.ts';
import { printTable } from './table.ts';

export async function ledgerStatsCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, config }) => {
    const stats = await ledger.stats();
    if (options.json) printJson(context, { ledger: config.ledger, ...stats });
    else {
      printTable(
        context.terminal.out,
        ['LEDGER', config.ledger],
        [
          ['sessions', String(stats.sessions)],
          ['runs', String(stats.runs)],
          ['events', String(stats.events)],
          ['payloads', `${stats.payloads} (${readableBytes(stats.payloadBytes)})`],
          ['database', readableBytes(stats.databaseBytes)],
          ['files', readableBytes(stats.fileBytes)],
        ],
      );
    }
    return exitCodes.completed;
  });
}

export async function ledgerVerifyCommand(
  context: CommandContext,
  text: string | undefined,
  options: JsonOption,
): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const session = text === undefined ? undefined : (await findRun(ledger, text)).session;
    const report = await ledger.verify(session);
    if (options.json) printJson(context, report);
    else if (report.kind === 'sound') {
      const tombstones = report.tombstones === 0 ? '' : `, ${report.tombstones} payloads collected`;
      context.terminal.out.line(`sound: ${report.events} events in ${report.sessions} sessions${tombstones}`);
    } else context.terminal.out.line(`broken at ${report.event}: ${report.why}`);
    return report.kind === 'sound' ? exitCodes.completed : exitCodes.failed;
  });
}

export interface GcOptions extends JsonOption {
  readonly olderThan: string;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Payloads of old sessions go; the events stay, so the chain still verifies. Nothing goes without `--yes`. */
export async function ledgerGcCommand(context: CommandContext, options: GcOptions): Promise<ExitCode> {
  const olderThanMs = parseDuration(options.olderThan);
  if (olderThanMs === undefined) throw usageError(`--older-than ${options.olderThan} is not a duration`, 'write 30d, 12h or 90m');
  const dryRun = options.dryRun === true || options.yes !== true;
  return withProject(context, { readOnly: dryRun }, async ({ ledger }) => {
    const report = await ledger.gc({ olderThanMs, now: context.clock.now(), dryRun });
    if (options.json) printJson(context, report);
    else {
      const what = `${report.payloads} payloads (${readableBytes(report.bytes)}) of ${report.sessions.length} sessions`;
      context.terminal.out.line(report.dryRun ? `would collect ${what}; do it with --yes` : `collected ${what}`);
    }
    return exitCodes.completed;
  });
}
