/** What commands printed, as reports of tests and as one bundle: from what was recorded, and bounded. */
import type { PayloadRef } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';
import { boundResult } from '../tools/bounded.ts';

export interface CommandLog {
  readonly run: EventOf<'cli.run'>;
  readonly report?: EventOf<'test.report'>;
  /** What it printed, in the order of the streams. */
  readonly output: string;
}

/** The commands of a run with what belongs to them: events of the same step that follow one another. */
export async function commandLogs(
  ledger: Pick<Ledger, 'payload'>,
  events: readonly LedgerEvent[],
): Promise<readonly CommandLog[]> {
  const logs: { run: EventOf<'cli.run'>; report?: EventOf<'test.report'>; output: string }[] = [];
  for (const event of events) {
    const last = logs.at(-1);
    if (event.event_type === 'cli.run') logs.push({ run: event, output: '' });
    else if (last === undefined || last.run.step !== event.step) continue;
    else if (event.event_type === 'test.report') last.report = event;
    else if (event.event_type === 'cli.stdout' || event.event_type === 'cli.stderr') last.output += await printed(ledger, event);
  }
  return logs;
}

async function printed(
  ledger: Pick<Ledger, 'payload'>,
  { payload, attachment_ref }: EventOf<'cli.stdout'> | EventOf<'cli.stderr'>,
): Promise<string> {
  const whole = attachment_ref === null ? undefined : await ledger.payload(attachment_ref as PayloadRef);
  const text = whole === undefined ? payload.head : Buffer.from(whole).toString();
  const kept = boundResult(text, limits.logOutputBytes).text;
  return kept === '' || kept.endsWith('\n') ? kept : `${kept}\n`;
}

export function logText({ run, report, output }: CommandLog): string {
  const { command, exitCode, signal, stopped, durationMs } = run.payload;
  const how = stopped ?? (exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exitCode}`);
  const tests = report === undefined ? '' : `, ${report.payload.passed ? 'passed' : 'not passed'}`;
  return `$ ${command}\n(${how}, ${durationMs} ms${tests})\n${output}`;
}

/** All of them, the last ones when they are too long together. */
export function logBundle(logs: readonly CommandLog[]): string {
  return boundResult(logs.map(logText).join('\n'), limits.logBundleBytes).text;
}
