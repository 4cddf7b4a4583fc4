/** A project as a program has it: one call that runs an agent, and the engine and the ledger behind it for everything else. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { TroupeError } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import type { Engine, RunHandle } from '../engine/port.ts';
import type { Failure } from '../events/catalogue.ts';
import { type UserMessage, userText } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import { type Extras, openProject } from '../project/open.ts';
import type { OpenOptions, Project } from '../project/project.ts';
import type { OrdinaryTool } from '../tools/port.ts';
import { keepCompany } from './keep-company.ts';
import type { CompanyOptions, RunOptions } from './run-options.ts';
import type { RunOutcome } from './run-outcome.ts';

/** How a project is opened. Nothing is needed: the folder is then found as the command line finds it. */
export interface TroupeOptions {
  /**
   * The project's folder: where troupe.yaml, agents/ and .troupe/ are. Without it, the nearest folder with a troupe.yaml from the
   * current one upwards, or the current one.
   */
  readonly root?: string | undefined;
  /** Where keys and settings are read from; the environment of the process without it. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Agents beside those in files, made with `defineAgent`; they win over files of the same name. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** Tools beside the built-in ones, made with `defineTool`; agents name them in `tools`. */
  readonly tools?: readonly OrdinaryTool[] | undefined;
  /** The model of agents that name none, in place of what the environment and troupe.yaml say. */
  readonly model?: string | undefined;
  /** The model of all agents, also of those that name one: for a trial, or for a test. */
  readonly modelForAll?: string | undefined;
}

/** An open project. Close it when done, or open it with `await using`. */
export interface Troupe extends AsyncDisposable {
  /** The project's folder. */
  readonly root: string;
  /** Everything that can be done with runs: start, resume, cancel, pause, answer, watch. */
  readonly engine: Engine;
  /** Everything that has happened. */
  readonly ledger: Ledger;
  /**
   * Runs an agent on a prompt and stays with it until it ends, or until it waits for an answer that no callback gives. Resolves
   * however the run went. Rejects with a `TroupeError` when it cannot start at all, and with the error of a callback that threw:
   * the run is then left standing and can be resumed.
   */
  run(agent: string, prompt: string | UserMessage, options?: RunOptions): Promise<RunOutcome>;
  /** Goes on with a run that waits, was paused or was cut off, here or in another process. One that has ended is told again. */
  resume(run: RunId, options?: CompanyOptions): Promise<RunOutcome>;
  /** Lets what is under way be recorded and gives everything back. Runs that have not ended can be resumed. */
  close(): Promise<void>;
}

/** Opens a project for use from a program. */
export function createTroupe(options: TroupeOptions = {}): Promise<Troupe> {
  const { root, env = process.env, agents, tools, model, modelForAll } = options;
  const cwd = process.cwd();
  const flags = { model: modelForAll, defaultModel: model };
  return openTroupe({ cwd, root: root === undefined ? undefined : resolve(cwd, root), env, flags }, { agents, tools });
}

/** Opens the project, runs one agent in it and closes it again: `createTroupe`, `run` and `close` in one. */
export async function run(
  agent: string,
  prompt: string | UserMessage,
  options: TroupeOptions & RunOptions = {},
): Promise<RunOutcome> {
  await using troupe = await createTroupe(options);
  return await troupe.run(agent, prompt, options);
}

export async function openTroupe(options: OpenOptions, extras: Extras): Promise<Troupe> {
  const project = await openProject(options, extras);
  const { root, engine, ledger } = project;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= project.close();
    return closing;
  };
  return {
    root,
    engine,
    ledger,
    run: (agent, prompt, given = {}) => runAgent(project, agent, prompt, given),
    resume: (id, given = {}) => resumeRun(project, id, given),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function runAgent(project: Project, agent: string, prompt: string | UserMessage, options: RunOptions): Promise<RunOutcome> {
  options.signal?.throwIfAborted();
  const { budget, session } = options;
  const workspace = options.workspace === undefined ? project.config.workspace : resolve(options.workspace);
  await requireFolder(workspace);
  const input = typeof prompt === 'string' ? userText(prompt) : prompt;
  const started = await project.engine.start({ agent, input, session, workspace, budget });
  if (started.kind === 'refused') throw refusal(started.error);
  return await keepCompany(project, { ...started.handle, agent }, options, 'start');
}

async function resumeRun(project: Project, run: RunId, options: CompanyOptions): Promise<RunOutcome> {
  options.signal?.throwIfAborted();
  const [row] = await project.ledger.runs({ run, limit: 1 });
  const resumed = await project.engine.resume(run);
  if (resumed.kind === 'refused') throw refusal(resumed.error);
  if (resumed.kind === 'unknown' || row === undefined)
    throw new TroupeError('unknown_run', `There is no run ${run} in this ledger`, {
      fix: 'Open the project that it was run in.',
    });
  if (resumed.kind === 'held') {
    const { pid, host } = resumed.owner;
    throw new TroupeError('held', `Process ${pid} on ${host} drives this run now`, {
      fix: 'Wait until it is done, or follow its events: troupe.ledger.tail(session, 0, signal).',
    });
  }
  const { agent, session } = row;
  const handle: RunHandle =
    resumed.kind === 'resumed'
      ? resumed.handle
      : { run, session, done: Promise.resolve({ kind: 'ended', result: resumed.result }) };
  return await keepCompany(project, { ...handle, agent }, options, 'now');
}

function refusal({ code, message, fix }: Failure): TroupeError {
  return new TroupeError(code, message, fix === undefined ? {} : { fix });
}

async function requireFolder(workspace: string): Promise<void> {
  const found = await stat(workspace).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new TroupeError('usage', `There is no workspace ${workspace}`, {
    fix: 'Make the folder, or name another: `workspace` of the run or of troupe.yaml.',
  });
}
