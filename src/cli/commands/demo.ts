/** `troupe demo`: an example, end to end, in a temporary folder. Real engine, real ledger, real tools; no key. */
import { suggest } from '../../base/did-you-mean.ts';
import { demos, placeDemo } from '../../front/project/examples.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { runCommand } from './run.ts';

export async function demoCommand(context: CommandContext, which: string, options: OutputOptions): Promise<ExitCode> {
  const demo = demos[which];
  if (demo === undefined) {
    const names = Object.keys(demos);
    throw usageError(
      `There is no demo ${JSON.stringify(which)}`,
      suggest(which, names, 'demos') ?? `take one of ${names.join(', ')}`,
    );
  }
  const { progress, env } = context.terminal;
  const { folder, env: own, isRepository } = await placeDemo(demo, env);
  const terminal = { ...context.terminal, env: own };
  if (!options.quiet) {
    progress.line(`${demo.title}, in ${folder}.`);
    progress.line('Its answers come from a script, everything else is real: tools, files, tests, ledger.');
    progress.line();
  }
  const here = { ...context, terminal, cwd: folder };
  const code = await runCommand(here, demo.file, demo.prompt, options);
  // The work lies in one patch, and nothing of the repository was touched.
  if (isRepository && code === exitCodes.completed && !options.quiet)
    progress.prose(`bring the work to the repository: ${callOf(here)} apply last`);
  return code;
}
