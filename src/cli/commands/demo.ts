/** `troupe demo`: an example, end to end, in a temporary folder. Real engine, real ledger, real tools; no key. */
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggest } from '../../base/did-you-mean.ts';
import { firstCommit } from '../../workspaces/advance.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { runCommand } from './run.ts';

interface Demo {
  readonly example: string;
  readonly agent: string;
  readonly prompt: string;
  /** What somebody is about to see, in front of the folder. */
  readonly says: string;
  /** A folder of it that is to be a repository; what is left to do with the result, then. */
  readonly repository?: string;
}

const demos: Readonly<Record<string, Demo>> = {
  lead: {
    example: '22-architect',
    agent: 'lead',
    prompt: 'Add a CLI tool to this repo and cover it with tests.',
    says: 'One agent plans and judges, another does the work, and the runtime looks at what it did, in',
    repository: 'workspace',
  },
  fixer: {
    example: '01-first-run',
    agent: 'agents/fixer.md',
    prompt: 'The tests of this project fail. Find out why, fix it, and show that they pass.',
    says: 'An agent repairs a small project in',
  },
};

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
  const folder = await mkdtemp(join(tmpdir(), 'troupe-demo-'));
  await cp(fileURLToPath(new URL(`../../../examples/${demo.example}`, import.meta.url)), folder, { recursive: true });
  // State stays in the demo's folder, a model from outside would need a key, and the agent runs tests with this Node.
  const path = [dirname(process.execPath), env['PATH']].filter((part) => part !== undefined).join(delimiter);
  const terminal = { ...context.terminal, env: { ...env, TROUPE_HOME: undefined, TROUPE_MODEL: undefined, PATH: path } };
  if (!options.quiet) {
    progress.line(`${demo.says} ${folder}.`);
    progress.line('Its answers come from a script, everything else is real: tools, files, tests, ledger.');
    progress.line();
  }
  const here = { ...context, terminal, cwd: folder };
  const isRepository = demo.repository !== undefined && (await firstCommit(join(folder, demo.repository), terminal.env));
  const code = await runCommand(here, demo.agent, demo.prompt, options);
  // The work lies in one patch, and nothing of the repository was touched.
  if (isRepository && code === exitCodes.completed && !options.quiet)
    progress.prose(`bring the work to the repository: ${callOf(here)} apply last`);
  return code;
}
