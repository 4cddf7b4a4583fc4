/** `troupe telemetry status|backfill`: whether spans are sent and how far; spans of what happened before. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { counted } from '../../base/wording.ts';
import type { TelemetryStatus } from '../../front/shapes/telemetry.ts';
import { backfillOfRun, backfillTelemetry, telemetryStatus, timeSince } from '../../front/telemetry/telemetry.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface TelemetryStatusOptions extends JsonOption {
  readonly offline?: boolean | undefined;
}

export async function telemetryStatusCommand(context: CommandContext, options: TelemetryStatusOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const status = await telemetryStatus(project, context.clock, options.offline === true);
    if (options.json) printJson(context, 'telemetry status', status);
    else sayStatus(context, status);
    return status.state === 'off' || status.state === 'on' ? exitCodes.completed : exitCodes.failed;
  });
}

function sayStatus({ terminal: { out } }: CommandContext, status: TelemetryStatus): void {
  const { state, endpoint, from, content, conventions, spans = 0, refused = 0, behind = 0, told, why } = status;
  if (state === 'off') {
    out.line('off: no address says where spans go');
    out.prose('fix: set OTEL_EXPORTER_OTLP_ENDPOINT, or telemetry.endpoint in troupe.yaml');
    return;
  }
  const rows = [
    ...(endpoint === undefined ? [] : [['endpoint', `${endpoint} (${from})`]]),
    ...(conventions === undefined ? [] : [['conventions', `${conventions}, content ${content === true ? 'on' : 'off'}`]]),
    ...(endpoint === undefined ? [] : [['sent', `${counted(spans, 'span')}, ${refused} refused`]]),
    ...(endpoint === undefined ? [] : [['behind', counted(behind, 'event')]]),
    ...(told === undefined ? [] : [['last', told]]),
    ...(why === undefined ? [] : [['why', safeLine(why)]]),
  ];
  printTable(out, ['TELEMETRY', state], rows);
}

export interface BackfillOptions extends JsonOption {
  readonly since?: string | undefined;
  readonly output?: string | undefined;
}

export async function telemetryBackfillCommand(
  context: CommandContext,
  run: string | undefined,
  options: BackfillOptions,
): Promise<ExitCode> {
  const { clock, terminal } = context;
  const { since, output } = options;
  if ((run === undefined) === (since === undefined))
    throw usageError('Spans of what?', 'name a run (troupe telemetry backfill last), or a time: --since 7d');
  const sinceMs = since === undefined ? 0 : sinceOf(since, clock.now());
  return withProject(context, { readOnly: true }, async (project) => {
    const row = run === undefined ? undefined : await findRun(project.ledger, run);
    const of = row === undefined ? ({ kind: 'since', ms: sinceMs } as const) : await backfillOfRun(project.ledger, row);
    const stopping = new AbortController();
    terminal.onStop(() => stopping.abort());
    const file = output === undefined ? undefined : await opened(resolve(context.cwd, output));
    try {
      const write = file && (async (line: string) => void (await file.write(line)));
      const needs = { clock, random: systemRandom, stopping: stopping.signal, write };
      const told = await backfillTelemetry(project, of, needs);
      const value = output === undefined ? told : { ...told, file: output };
      if (options.json) printJson(context, 'telemetry backfill', value);
      else terminal.out.prose(`${counted(told.spans, 'span')} to ${output ?? told.endpoint}${refusedText(told)}`);
      return told.refused > 0 ? exitCodes.failed : exitCodes.completed;
    } finally {
      await file?.close();
    }
  });
}

const refusedText = ({ refused, why }: { readonly refused: number; readonly why?: string | undefined }): string =>
  refused === 0 ? '' : `; ${refused} were refused${why === undefined ? '' : `: ${safeLine(why)}`}`;

function sinceOf(text: string, now: number): number {
  const at = timeSince(text, now);
  if (at === undefined) throw usageError(`--since ${text} is no time`, 'write 7d, 12h, or a date such as 2026-11-01');
  return at;
}

async function opened(path: string) {
  return await open(path, 'w', 0o600).catch((error: unknown) => {
    throw usageError(`${path} cannot be written: ${messageOf(error)}`, 'name another file: --output');
  });
}
