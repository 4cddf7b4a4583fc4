/** `troupe fork`: goes on from the middle of a run, in a session of its own; and the same of `troupe context`. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { Failure } from '../../events/catalogue.ts';
import { forkText, type MadeFork, makeFork, parseForkSet } from '../../front/forks/forks.ts';
import { readShownRun } from '../../front/shown-run.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { findRun } from '../drive/find-run.ts';
import type { RunTermsOptions } from '../drive/finish-run.ts';
import { type ContextOptions, contextOf } from '../questions/context.ts';
import { type CommandContext, callOf, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { resumeRun } from './resume.ts';

export interface ForkCommandOptions extends Pick<RunTermsOptions, 'json' | 'jsonl' | 'quiet' | 'yes' | 'require' | 'notify'> {
  readonly at?: string | undefined;
  readonly set: readonly string[];
  readonly in?: string | undefined;
  /** `false`: only made. */
  readonly run: boolean;
}

export async function forkCommand(context: CommandContext, text: string, options: ForkCommandOptions): Promise<ExitCode> {
  const { require, notify } = options;
  return withProject(context, { existing: true, flags: { require, notify } }, async (project) => {
    const { run } = await findRun(project.ledger, text);
    const { file, ...set } = must(parseForkSet(options.set));
    const agent = file === undefined ? undefined : await agentIn(context, project, file);
    const folder = options.in === undefined ? undefined : await folderAt(resolve(context.cwd, options.in), options.in);
    const made = must(
      await makeFork(
        { project, clock: context.clock },
        { run, set: { ...set, ...present({ agent }) }, ...present({ at: options.at, folder }) },
      ),
    );
    const { progress } = context.terminal;
    if (options.quiet !== true) for (const line of [...forkText(made), ...made.notes]) progress.prose(safeLine(line));
    const row = await findRun(project.ledger, made.run);
    if (options.run) return await goOn(context, project, row, made, options);
    if (options.json) printJson(context, 'fork', { ...madeValue(made), result: null });
    else context.terminal.out.line(made.run);
    if (options.quiet !== true) progress.prose(`have it go on: ${callOf(context)} resume ${made.run}`);
    return exitCodes.completed;
  });
}

export interface WithoutOptions extends ContextOptions {
  readonly without: readonly string[];
}

/** `troupe context --without`: a fork right before a request, which goes on without a part of what that sent. */
export async function forkWithoutCommand(context: CommandContext, text: string, options: WithoutOptions): Promise<ExitCode> {
  const { turn, without, run, json, parts } = options;
  if (json === true || parts === true)
    throw usageError(
      '--without makes a fork',
      'leave --json and --parts out; for programs: troupe fork <run> --set without=<origin> --json',
    );
  const { row, at } = await withProject(context, { readOnly: true }, async ({ ledger }) => {
    const found = await findRun(ledger, text);
    return { row: found, at: String((await contextOf(ledger, found, turn)).position - 1) };
  });
  return await forkCommand(context, row.run, { at, set: without.map((origin) => `without=${origin}`), run });
}

async function folderAt(path: string, given: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  throw usageError(`There is no folder ${given}`, 'make it, or name another one after --in');
}

const madeValue = ({ session, run, from, workspace, kept, notes }: MadeFork) => ({
  ...{ session, run, from, workspace, kept, notes: [...notes] },
});

async function goOn(
  context: CommandContext,
  project: Project,
  row: RunRow,
  made: MadeFork,
  options: ForkCommandOptions,
): Promise<ExitCode> {
  if (options.json !== true) return await resumeRun(context, project, row, options);
  const code = await resumeRun({ ...context, terminal: withoutOutput(context.terminal) }, project, row, {
    ...options,
    json: false,
  });
  const shown = await readShownRun(project, row, context.clock.now());
  printJson(context, 'fork', { ...madeValue(made), result: shown?.summary ?? null });
  return code;
}

/** What the run came to is a part of one value. */
const withoutOutput = (terminal: CommandContext['terminal']): CommandContext['terminal'] => ({
  ...terminal,
  out: { ...terminal.out, line: () => undefined, isTty: false },
});

async function agentIn(context: CommandContext, project: Project, file: string): Promise<AgentDefinition> {
  const files = { ...(await project.agents()), root: project.root, variables: Object.keys(project.config.vars) };
  return (await findAgent(files, file, await agentFileOf(context.cwd, file))).definition;
}

function must<Value>(
  result: { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure },
): Value {
  if (result.ok) return result.value;
  const { code, message, fix } = result.error;
  throw new TroupeError(code, message, present({ fix }));
}
