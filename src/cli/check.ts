/** `troupe check`: every problem in the settings and in every agent file, at once, before anything runs. */
import { formatDiagnostic, isError } from '../agents/diagnostics.ts';
import { checkFiles } from './check-files.ts';
import { type CommandContext, type JsonOption, printJson } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

export async function checkCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const checked = await checkFiles(context);
  const agents = checked.ok ? checked.value.agents.length : 0;
  const diagnostics = checked.ok ? checked.value.diagnostics : checked.error;
  const errors = diagnostics.filter(isError).length;
  const warnings = diagnostics.length - errors;
  if (options.json) printJson(context, { ok: errors === 0, agents, errors, warnings, diagnostics });
  else {
    for (const one of diagnostics) context.terminal.out.line(formatDiagnostic(one));
    const found = `${agents} ${agents === 1 ? 'agent' : 'agents'} checked`;
    context.terminal.progress.line(`${found}: ${errors} errors, ${warnings} warnings`);
  }
  return errors === 0 ? exitCodes.completed : exitCodes.usage;
}
