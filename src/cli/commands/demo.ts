/** `troupe demo`: the first example, end to end, in a temporary folder. Real engine, real ledger, real tools; no key. */
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OutputOptions } from '../drive/finish-run.ts';
import type { CommandContext } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { runCommand } from './run.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/01-first-run', import.meta.url));
const PROMPT = 'The tests of this project fail. Find out why, fix it, and show that they pass.';

export async function demoCommand(context: CommandContext, options: OutputOptions): Promise<ExitCode> {
  const { progress, env } = context.terminal;
  const folder = await mkdtemp(join(tmpdir(), 'troupe-demo-'));
  await cp(EXAMPLE, folder, { recursive: true });
  // State stays in the demo's folder, a model from outside would need a key, and the agent runs tests with this Node.
  const path = [dirname(process.execPath), env['PATH']].filter((part) => part !== undefined).join(delimiter);
  const terminal = { ...context.terminal, env: { ...env, TROUPE_HOME: undefined, TROUPE_MODEL: undefined, PATH: path } };
  if (!options.quiet) {
    progress.line(`An agent repairs a small project in ${folder}.`);
    progress.line('Its answers come from a script, everything else is real: tools, files, tests, ledger.');
    progress.line();
  }
  return runCommand({ ...context, terminal, cwd: folder }, 'agents/fixer.md', PROMPT, options);
}
