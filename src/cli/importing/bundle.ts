/** `troupe import` of a bundle: the whole file is checked before anything of it is stored. */
import { resolve } from 'node:path';
import { counted } from '../../base/wording.ts';
import type { ImportReport } from '../../bundles/import.ts';
import { publicKey } from '../../bundles/sign.ts';
import { keyText } from '../export/bundle.ts';
import type { FoundBundle } from '../export/bundle-file.ts';
import { bundleImported, takeBundle } from '../export/take-bundle.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface BundleImportOptions extends JsonOption {
  readonly check?: boolean | undefined;
  readonly key?: string | undefined;
}

export async function importBundleCommand(
  context: CommandContext,
  file: FoundBundle,
  options: BundleImportOptions,
): Promise<ExitCode> {
  const { check = false } = options;
  const key = options.key === undefined ? undefined : publicKey(await keyText(resolve(context.cwd, options.key)));
  const { clock, terminal } = context;
  const report = await withProject(context, { readOnly: false }, ({ config }) =>
    takeBundle({ address: config.ledgerAddress, env: terminal.env, clock }, file, { check, key }),
  );
  if (options.json) printJson(context, 'import', bundleImported(report));
  else say(context, report, { check, isKnown: key !== undefined });
  return exitCodes.completed;
}

function say(context: CommandContext, report: ImportReport, { check, isKnown }: { check: boolean; isKnown: boolean }): void {
  const { out, progress } = context.terminal;
  for (const { session, events, sealed, gone, here } of report.sessions) {
    const what = here === undefined ? (check ? 'would be imported' : 'imported') : HERE[here];
    const notes = [
      ...(sealed === 0 ? [] : [`${sealed} without what is sealed in them`]),
      ...(gone === 0 ? [] : [`${counted(gone, 'attachment')} collected before`]),
    ];
    out.line(`${session}  ${what}: ${[counted(events, 'event'), ...notes].join(', ')}`);
  }
  const { signedBy, agents } = report;
  const trust = isKnown ? 'the key that you named' : 'a key that nobody vouched for: name the one you expect with --key';
  progress.prose(signedBy === null ? 'it is not signed: whoever had it may have made it' : `signed with ${signedBy}, ${trust}`);
  if (agents.length > 0)
    progress.prose(`files of agents are in it, and were not installed: ${agents.map(safeLine).join(', ')} (tar -xf shows them)`);
  if (report.stored) progress.prose(`look at it: ${callOf(context)} show ${report.sessions.at(-1)?.session ?? 'last'}`);
}

const HERE = {
  imported: 'is here already, imported before',
  original: 'is here already: it began in this ledger',
} as const;
