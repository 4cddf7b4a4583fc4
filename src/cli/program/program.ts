/**
 * The command line as a whole: parses, loads the command that was asked for, and turns what it throws into words and an exit
 * code. Commands are loaded when they are used, so that `troupe --version` costs nothing.
 */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { OpenProject } from '../../project/project.ts';
import { asCalled, type CommandContext, callOf, printJsonError, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodeOfError, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { version } from '../terminal/version.ts';
import { describeCommands } from './commands.ts';

const EXAMPLES = `Examples:
  troupe demo                                 see it work, without a key
  troupe init                                 write a first agent here
  troupe run agents/hello.md "What is here?"  run it
  troupe chat                                 talk with an agent
  git diff | troupe run reviewer -            with a prompt from stdin
  troupe resume last                          go on after a crash or Ctrl-C
  troupe why last                             from a result back to the prompt
`;

const openLazily: OpenProject = async (options, extras) => (await import('../../project/open.ts')).openProject(options, extras);

export async function runProgram(
  args: readonly string[],
  terminal: Terminal,
  openProject = openLazily,
  clock = systemClock,
): Promise<number> {
  let code: ExitCode = exitCodes.completed;
  let cwd = terminal.cwd;
  const program = createProgram(terminal, (command) => async (folder) => {
    cwd = await folderOf(terminal, folder);
    code = await command({ terminal, clock, cwd, openProject });
  });
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, args, terminal, callOf({ cwd, terminal }));
  }
}

async function folderOf(terminal: Terminal, folder: string | undefined): Promise<string> {
  if (folder === undefined) return terminal.cwd;
  const path = resolve(terminal.cwd, folder);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) throw usageError(`There is no folder ${folder}`, 'name another one after -C');
  return path;
}

/** Given what a command line means, does it; `folder` is what `-C` said. */
export type Act = (
  command: (context: CommandContext) => Promise<ExitCode> | ExitCode,
) => (folder: string | undefined) => Promise<void>;

export function createProgram(terminal: Terminal, act: Act): Command {
  const program = new Command('troupe')
    .description('Runs teams of AI agents. Agents are files, and every step is an event in one ledger.')
    .version(version(), '--version', 'print the version')
    .option('-C, --cwd <folder>', 'work in this folder')
    .option('--no-color', 'no colours (NO_COLOR is honoured too)')
    .helpOption('-h, --help', 'print help')
    .addHelpText('before', EXAMPLES)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.progress.write(text),
      outputError: (text, write) => write(withOurWord(text)),
    });
  describeCommands(program, (command) => act(command)(program.opts<{ cwd?: string }>().cwd));
  return program;
}

/** What people look for under another word, which is no misspelling of ours. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  list: 'troupe agents list, or troupe ps for runs',
  ls: 'troupe agents list, or troupe ps for runs',
  ask: 'troupe run <agent> "…"',
  start: 'troupe run <agent> "…"',
  talk: 'troupe chat',
  status: 'troupe ps',
  history: 'troupe ps, then troupe logs <run>',
  continue: 'troupe run --continue "…", or troupe resume <run>',
  stop: 'troupe cancel <run>, or troupe pause <run>',
  kill: 'troupe cancel <run>',
  config: 'troupe doctor; settings are in troupe.yaml',
  validate: 'troupe check',
  lint: 'troupe check',
};

function withOurWord(text: string): string {
  const word = /unknown command '([a-z]+)'/.exec(text)?.[1] ?? '';
  const ours = Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined;
  return ours === undefined ? text : `error: unknown command '${word}'\n(Did you mean ${ours}?)\n`;
}

/** For failures that come without a fix of their own. */
const hints: Readonly<Record<string, string>> = { no_model: 'see a run without any model: troupe demo' };

/** A program reads a value, or lines: then a failure is the last of them. */
function tellProgram(terminal: Terminal, args: readonly string[], error: Parameters<typeof printJsonError>[1]): void {
  if (args.includes('--json')) printJsonError(terminal, error);
  else if (args.includes('--jsonl')) printJsonError(terminal, error, 'line');
}

/** The parser has told people already; what it knows better comes in brackets behind its sentence. */
function explainUsage({ message, exitCode }: CommanderError, args: readonly string[], terminal: Terminal): ExitCode {
  if (exitCode === 0) return exitCodes.completed;
  const [, said = '', hint] = /^(?:error: )?([\s\S]*?)(?:\s+\(([^()]+)\))?$/.exec(withOurWord(message).trimEnd()) ?? [];
  const failure = said === '' ? { message: 'A command is missing' } : { message: said.replace(/\.$/, ''), fix: hint };
  const fix = 'see what there is: add --help';
  tellProgram(terminal, args, { code: 'usage', fix, ...present(failure) });
  return exitCodes.usage;
}

/** Every failure ends here: words for a person, an object for a program, a number for a script. */
export function explain(error: unknown, args: readonly string[], terminal: Terminal, call = 'troupe'): ExitCode {
  if (error instanceof CommanderError) return explainUsage(error, args, terminal);
  const code = error instanceof TroupeError ? error.code : 'bug';
  const advice = error instanceof TroupeError ? (error.fix ?? hints[code]) : undefined;
  const fix = advice === undefined ? undefined : asCalled(advice, call);
  const message = error instanceof TroupeError ? asCalled(error.message, call) : messageOf(error);
  tellProgram(terminal, args, { code, message, fix });
  const { progress } = terminal;
  // Problems of files say themselves that they are errors, each at its place.
  const head = /^\S+:\d+:\d+: error: /m.test(message) ? '' : `${progress.paint.red('error')}: `;
  progress.prose(safeText(message), { head });
  if (fix !== undefined) progress.prose(safeText(fix), { head: '  fix: ', indent: 7 });
  if (!(error instanceof TroupeError) && error instanceof Error) progress.line(safeText(error.stack ?? ''));
  return exitCodeOfError(code);
}
