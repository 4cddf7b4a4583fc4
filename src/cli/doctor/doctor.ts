/** `troupe doctor`: what Troupe needs, whether it is there, and how to put right what is not. */
import { type CommandContext, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import type { Finding } from './finding.ts';
import { findings } from './findings.ts';

export async function doctorCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const found = await findings(context);
  const broken = found.some((one) => one.state === 'broken');
  if (options.json) printJson(context, { ok: !broken, findings: found });
  else for (const one of found) printFinding(context, one);
  return broken ? exitCodes.failed : exitCodes.completed;
}

function printFinding({ terminal: { out } }: CommandContext, finding: Finding): void {
  const { paint } = out;
  const mark = { good: paint.green('ok     '), note: paint.yellow('note   '), broken: paint.red('broken ') }[finding.state];
  out.line(`${mark} ${paint.bold(finding.about)}: ${finding.text}`);
  if (finding.fix !== undefined) out.line(`         fix: ${finding.fix}`);
}
