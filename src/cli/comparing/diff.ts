/** `troupe diff`: two runs held against each other. */
import { TroupeError } from '../../base/errors.ts';
import { compareRows } from '../../front/looking/compare-runs.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { diffLines } from './diff-lines.ts';

export interface DiffOptions extends JsonOption {
  readonly prose?: boolean;
  readonly all?: boolean;
  readonly exitCode?: boolean;
}

const UNBROKEN = 400;

export async function diffCommand(context: CommandContext, a: string, b: string, options: DiffOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const [one, other] = [await findRun(ledger, a), await findRun(ledger, b)];
    const now = context.clock.now();
    const compared = await compareRows(ledger, one, other, { prose: options.prose === true, now });
    if (!compared.ok) {
      const { code, message, fix } = compared.error;
      throw new TroupeError(code, message, { fix });
    }
    const { out } = context.terminal;
    const look = { paint: out.paint, width: out.isTty ? out.width() : UNBROKEN, all: options.all === true };
    if (options.json) printJson(context, 'diff', compared.value);
    else for (const line of diffLines(compared.value, look)) out.line(line);
    return options.exitCode === true && !compared.value.same ? exitCodes.failed : exitCodes.completed;
  });
}
