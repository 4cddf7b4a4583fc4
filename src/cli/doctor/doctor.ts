/** `troupe doctor`: what Troupe needs, whether it is there and answers, and how to put right what is not. */

import type { Finding } from '../../front/project/finding.ts';
import { asCalled, type CommandContext, callOf, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { findings } from './findings.ts';

export interface DoctorOptions extends JsonOption {
  readonly offline?: boolean | undefined;
}

export async function doctorCommand(context: CommandContext, options: DoctorOptions): Promise<ExitCode> {
  const found = await findings(context, options.offline === true);
  const broken = found.some((one) => one.state === 'broken');
  if (options.json) printJson(context, 'doctor', { ok: !broken, findings: found });
  else for (const one of found) printFinding(context, one);
  return broken ? exitCodes.failed : exitCodes.completed;
}

function printFinding(context: CommandContext, finding: Finding): void {
  const { out } = context.terminal;
  const call = callOf(context);
  const { paint } = out;
  const mark = { good: paint.green('ok     '), note: paint.yellow('note   '), broken: paint.red('broken ') }[finding.state];
  out.prose(safeLine(asCalled(finding.text, call)), { head: `${mark} ${paint.bold(finding.about)}: `, indent: 9 });
  if (finding.fix !== undefined)
    out.prose(safeText(asCalled(finding.fix, call)).trimStart().replaceAll('\n', '\n         '), {
      head: '         fix: ',
      indent: 14,
    });
}
