/** `troupe test add`: keeps a run as a test. */
import { addTest } from '../../trials/add-test.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';

export interface TestAddOptions extends JsonOption {
  readonly name?: string | undefined;
  readonly files?: string | undefined;
}

export async function testAddCommand(context: CommandContext, text: string, options: TestAddOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, root }) => {
    const row = await findRun(ledger, text);
    const name = options.name ?? `${row.agent}-${row.run.slice(-6)}`;
    const path = await addTest(ledger, row, { root, name, files: options.files });
    const next = `${callOf(context)} test ${name}`;
    if (options.json === true) printJson(context, 'test add', { files: [path], next });
    else context.terminal.out.line(`${path} written; read it, sharpen its checks, then: ${next}`);
    return exitCodes.completed;
  });
}
