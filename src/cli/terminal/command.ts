/** What every command is given, and the few things all of them do: open the project, print JSON, complain. */
import type { Clock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { OpenOptions, OpenProject, Project } from '../../project/project.ts';
import type { JsonCommand, JsonOf } from '../json/contract.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The folder the command works in: `-C`, or where it was called. */
  readonly cwd: string;
  readonly openProject: OpenProject;
}

/** Runs a command and ends with its exit code. */
export type Perform = (command: (context: CommandContext) => Promise<ExitCode> | ExitCode) => Promise<void>;

export interface JsonOption {
  readonly json?: boolean | undefined;
}

export function usageError(message: string, fix?: string): TroupeError {
  return new TroupeError('usage', message, { fix });
}

/** Opens the project, works with it, and closes it however that ends. */
export async function withProject<Value>(
  context: CommandContext,
  options: Pick<OpenOptions, 'readOnly' | 'existing' | 'lasting' | 'flags'>,
  work: (project: Project) => Promise<Value>,
): Promise<Value> {
  const request: OpenOptions = { cwd: context.cwd, env: context.terminal.env, clock: context.clock, ...options };
  const project = await context.openProject(request);
  try {
    return await work(project);
  } finally {
    await project.close();
  }
}

/** How to call the command line so that it works in the same folder: what is shown to a person can be copied. */
export function callOf({ cwd, terminal }: Pick<CommandContext, 'cwd' | 'terminal'>): string {
  const called = terminal.env['TROUPE_CALLED_AS'] || 'troupe';
  return cwd === terminal.cwd ? called : `${called} -C ${quoted(cwd)}`;
}

/** A text of ours with the commands that it names as whoever reads it would call them: what is advised can be copied. */
export function asCalled(text: string, call: string): string {
  return text.replace(/(?<![\w./-])troupe(?= [a-z])/g, () => call);
}

/**
 * A question that has no room for all of a request, with the command that shows it as whoever reads it would call it. Nothing of
 * the request itself is touched: its lines have a mark in front.
 */
export function requestAsCalled(text: string, call: string): string {
  return text.replace(/^(?! {2}\|)(.*\(requestCharacters\)\. `)troupe(?= show)/gm, (_all, before: string) => `${before}${call}`);
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Programs are told in their own language, whatever went wrong. */
export function printJsonError({ out }: Pick<Terminal, 'out'>, error: Failure, form: 'value' | 'line' = 'value'): void {
  out.line(JSON.stringify({ error }, null, form === 'line' ? 0 : 2));
}

/** Which value a command prints is settled in `json/contract.ts`. */
export function printJson<Command extends JsonCommand>(context: CommandContext, _command: Command, value: JsonOf<Command>): void {
  context.terminal.out.line(JSON.stringify(value, null, 2));
}
