/** `troupe ledger stats|verify|rebuild|gc|copy|new-key`: its size, whether it is whole, mending, shrinking, moving, its keys. */

import { parseDuration } from '../../agents/definition/duration.ts';
import { createIds, type Ids } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import { counted } from '../../base/wording.ts';
import { type CollectedSessions, collectedValue, collectOld } from '../../front/forgetting/retention.ts';
import { type LedgerAddress, parseLedgerAddress, unknownAddress } from '../../ledger/address.ts';
import { type CopyReport, copyLedger } from '../../ledger/copy/copy.ts';
import { openCopyStore, openLedger } from '../../ledger/open.ts';
import type { VerifyReport } from '../../ledger/port.ts';
import { addKey, SEAL_VARIABLE, sealKeyFile } from '../../ledger/seals/keys.ts';
import { readableBytes } from '../../projections/readable.ts';
import { damageFix, damageText, driftText } from '../doctor/ledger-damage.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function ledgerStatsCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, config }) => {
    const stats = await ledger.stats();
    if (options.json) printJson(context, 'ledger stats', { ledger: config.ledger, ...stats });
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
    if (options.json) printJson(context, 'ledger verify', report);
    else if (report.kind === 'sound') {
      const tombstones = report.tombstones === 0 ? '' : `, ${counted(report.tombstones, 'payload')} collected`;
      const forgotten = report.forgotten === 0 ? '' : `, ${counted(report.forgotten, 'payload')} forgotten`;
      context.terminal.out.line(
        `sound: ${counted(report.events, 'event')} in ${counted(report.sessions, 'session')}${tombstones}${forgotten}`,
      );
    } else sayDamage(context, report);
    return report.kind === 'sound' ? exitCodes.completed : exitCodes.failed;
  });
}

function sayDamage({ terminal: { out } }: CommandContext, report: Exclude<VerifyReport, { kind: 'sound' }>): void {
  if (report.kind === 'drifted') for (const row of report.rows.slice(0, SHOWN_ROWS)) out.line(driftText(row));
  out.line(damageText(report));
  out.line(`fix: ${damageFix(report)}`);
}

const SHOWN_ROWS = 20;

/** What follows from the events is made to say so again; the events themselves are never changed. */
export async function ledgerRebuildCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  // Where there is none, none is made.
  await withProject(context, { readOnly: true }, async () => exitCodes.completed);
  return withProject(context, { readOnly: false }, async ({ ledger }) => {
    const found = await ledger.rebuild();
    const left = await ledger.verify();
    if (options.json) printJson(context, 'ledger rebuild', { found, left });
    else {
      if (found.kind === 'drifted') for (const row of found.rows) context.terminal.out.line(`set right: ${driftText(row)}`);
      if (left.kind === 'sound') context.terminal.out.line(found.kind === 'sound' ? 'sound: nothing to set right' : 'sound now');
      else sayDamage(context, left);
    }
    return left.kind === 'sound' ? exitCodes.completed : exitCodes.failed;
  });
}

export interface GcOptions extends JsonOption {
  readonly olderThan?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Payloads of old sessions go; the events stay, so the chain still verifies. Nothing goes without `--yes`. */
export async function ledgerGcCommand(context: CommandContext, options: GcOptions): Promise<ExitCode> {
  const { olderThan } = options;
  const older = olderThan === undefined ? undefined : parseDuration(olderThan);
  if (olderThan !== undefined && older === undefined)
    throw usageError(`--older-than ${olderThan} is not a duration`, 'write 30d, 12h or 90m');
  const dryRun = options.dryRun === true || options.yes !== true;
  return withProject(context, { readOnly: dryRun }, async (project) => {
    const report = await collectOld(project, context.clock, { olderThanMs: older, dryRun });
    if (options.json) printJson(context, 'ledger gc', collectedValue(report));
    else sayCollected(context, report);
    return exitCodes.completed;
  });
}

function sayCollected({ terminal: { out, progress } }: CommandContext, { stays, events, ...report }: CollectedSessions): void {
  const payloads = `${counted(report.payloads, 'payload')} (${readableBytes(report.bytes)})`;
  const single = counted(
    events.reduce((sum, one) => sum + one.events, 0),
    'event',
  );
  const more = events.length === 0 ? '' : ` and ${single} of others`;
  const what = `${payloads} of ${counted(report.sessions.length, 'session')}${more}`;
  if (report.dryRun) {
    for (const session of report.sessions.slice(0, SHOWN_ROWS)) out.line(`goes   ${session}`);
    for (const { session, why } of stays.slice(0, SHOWN_ROWS)) out.line(`stays  ${session}  ${safeLine(why)}`);
    for (const { session, type, events: many } of events.slice(0, SHOWN_ROWS)) out.line(`goes   ${session}  ${many} ${type}`);
    if (Math.max(report.sessions.length, stays.length, events.length) > SHOWN_ROWS)
      progress.prose(`at most ${SHOWN_ROWS} of each are listed; all of them: --json`);
  }
  out.line(report.dryRun ? `would collect ${what}; do it with --yes` : `collected ${what}`);
  for (const why of report.left) out.line(`not cleared away: ${safeLine(why)}`);
}

export interface CopyCommandOptions extends JsonOption {
  readonly force?: boolean | undefined;
}

/** Copies what is not there yet and verifies the whole target, so that a copy that was cut off is simply made again. */
export async function ledgerCopyCommand(
  context: CommandContext,
  from: string,
  to: string,
  options: CopyCommandOptions,
): Promise<ExitCode> {
  const { clock, cwd, terminal } = context;
  const { env } = terminal;
  const addressOf = (text: string): LedgerAddress => {
    const address = parseLedgerAddress(text, cwd);
    if (address === undefined) throw unknownAddress();
    return address;
  };
  const [source, target] = [addressOf(from), addressOf(to)];
  if (source.location() === target.location()) throw usageError('a ledger cannot be copied onto itself');
  const ids = createIds(clock, systemRandom);
  const copied = await copyBetween(source, target, { clock, ids, env, force: options.force === true });
  const verified = await verifyAt(target, { clock, ids, env });
  const sound = verified.kind === 'sound';
  if (options.json) printJson(context, 'ledger copy', { from: source.shown, to: target.shown, ...copied, verified });
  else if (sound) {
    const events = `${counted(copied.events, 'event')} and ${counted(copied.payloads, 'payload')}`;
    const what = `${events} of ${counted(copied.sessions, 'session')}`;
    terminal.out.prose(`copied ${what} to ${target.shown}; all ${verified.events} events there are sound`);
  } else terminal.out.prose(`copied, but ${target.shown} is not whole: ${damageText(verified)}`);
  return sound ? exitCodes.completed : exitCodes.failed;
}

/** Seals with a new key from now on. */
export async function ledgerNewKeyCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const { env, out } = context.terminal;
  const place = sealKeyFile(env);
  if ((env[SEAL_VARIABLE] ?? '') !== '')
    throw usageError(`the keys are in ${SEAL_VARIABLE}`, 'put a new one before the others there, separated by a comma');
  const id = addKey(env, systemRandom);
  if (options.json) printJson(context, 'ledger new-key', { key: id, file: place });
  else out.prose(`key ${id} seals from now on; earlier ones in ${place} still open what they sealed`);
  return exitCodes.completed;
}

interface Tools {
  readonly clock: CommandContext['clock'];
  readonly ids: Ids;
  readonly env: CommandContext['terminal']['env'];
}

async function copyBetween(from: LedgerAddress, to: LedgerAddress, options: Tools & { force: boolean }): Promise<CopyReport> {
  const reading = await openCopyStore(from, { ...options, readOnly: true });
  try {
    const writing = await openCopyStore(to, { ...options, readOnly: false });
    try {
      return await copyLedger(reading, writing, options);
    } finally {
      await writing.close();
    }
  } finally {
    await reading.close();
  }
}

async function verifyAt(address: LedgerAddress, options: Tools): Promise<VerifyReport> {
  const ledger = await openLedger(address, { ...options, readOnly: true });
  try {
    return await ledger.verify();
  } finally {
    await ledger.close();
  }
}
