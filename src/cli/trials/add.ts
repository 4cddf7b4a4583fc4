/** `troupe test add`: keeps a run as a test. */
import { addTest } from '../../trials/add-test.ts';
import { addFrozen } from '../../trials/freeze.ts';
import { findRun } from '../drive/find-run.ts';
import { requireOwn } from '../drive/not-imported.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

const timeZoneIn = ({ terminal }: CommandContext): string =>
  terminal.env['TZ'] || Intl.DateTimeFormat().resolvedOptions().timeZone;

export interface TestAddOptions extends JsonOption {
  readonly name?: string | undefined;
  readonly files?: string | undefined;
  readonly frozen?: boolean | undefined;
}

export async function testAddCommand(context: CommandContext, text: string, options: TestAddOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const { ledger, root, groups, redact } = project;
    if (options.frozen === true && options.files !== undefined)
      throw usageError('--frozen keeps no files: nothing is run again', 'Leave out one of the two.');
    const row = await findRun(ledger, text);
    await requireOwn(ledger, row);
    const name = options.name ?? `${row.agent}-${row.run.slice(-6)}`;
    const { files, notes } =
      options.frozen === true
        ? await addFrozen(ledger, row, project, { name, timeZone: timeZoneIn(context) })
        : await addTest(ledger, row, { ...{ root, name, redact, environment: groups.env }, files: options.files });
    const next = `${callOf(context)} test ${name}`;
    for (const note of notes) context.terminal.progress.prose(safeLine(note), { head: 'note: ' });
    if (options.json === true) printJson(context, 'test add', { files: [...files], next });
    else
      context.terminal.out.line(
        `${files.join(', ')} written; ${options.frozen === true ? 'play it again' : 'read it, sharpen its checks, then'}: ${next}`,
      );
    return exitCodes.completed;
  });
}
