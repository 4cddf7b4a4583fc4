/** Commands on what is sent to OpenTelemetry. */
import type { Command } from 'commander';
import type { BackfillOptions, TelemetryStatusOptions } from '../commands/telemetry.ts';
import type { Perform } from '../terminal/command.ts';
import { addTo, json } from './describe.ts';

export function describeTelemetry(telemetry: Command, perform: Perform): void {
  json(addTo(telemetry, 'status', 'whether spans are sent, where to, and how far', 'troupe telemetry status'))
    .option('--offline', 'do not ask the collector')
    .action((options: TelemetryStatusOptions) =>
      perform(async (context) => (await import('../commands/telemetry.ts')).telemetryStatusCommand(context, options)),
    );
  json(
    addTo(
      telemetry,
      'backfill [run]',
      'send the spans of what happened before, with the ids that they always have',
      'troupe telemetry backfill --since 7d',
    ),
  )
    .option('--since <time>', 'of everything that ended since: 7d, 12h, 2026-11-01')
    .option('-o, --output <file>', 'write them to this file instead, a batch a line, as OTLP has files')
    .action((run: string | undefined, options: BackfillOptions) =>
      perform(async (context) => (await import('../commands/telemetry.ts')).telemetryBackfillCommand(context, run, options)),
    );
}
