/** A project as a program has it: one call that runs an agent, and the engine and the ledger behind it for everything else. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { ArtifactArchive } from '../artifacts/archive.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import type { Engine, RunHandle } from '../engine/port.ts';
import { rootOf } from '../engine/record/root-of.ts';
import type { UserMessage } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import { openProject } from '../project/open.ts';
import type { Extras, OpenOptions, Project } from '../project/project.ts';
import {
  checkOpening,
  checkResuming,
  checkRunning,
  requestOf,
  requireAgentName,
  runIdOf,
  splitOptions,
} from './check-options.ts';
import { checkedEngine } from './checked-engine.ts';
import { hear } from './hear.ts';
import { keepCompany, type Stage } from './keep-company.ts';
import { explained, refusedWith } from './refusals.ts';
import type { ResumeOptions, RunOptions, TroupeOptions } from './run-options.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createVisits } from './visits.ts';

/** An open project. Close it when done, or open it with `await using`. */
export interface Troupe extends AsyncDisposable {
  /** The project's folder. */
  readonly root: string;
  /** Everything that can be done with runs: start, resume, cancel, pause, answer, watch. */
  readonly engine: Engine;
  /** Everything that has happened. */
  readonly ledger: Ledger;
  /** What work left behind: listed, resolved by reference (`artifact://…`, `env://…`), read, pinned. */
  readonly artifacts: ArtifactArchive;
  /**
   * Runs an agent on a prompt and stays with it until it ends, or until it waits for an answer that no callback gives. Resolves
   * however the run went. Rejects with a `TroupeError` when it cannot start at all, and with the error of a callback that threw:
   * the run is then left standing and can be resumed.
   */
  run(agent: string, prompt: string | UserMessage, options?: RunOptions): Promise<RunOutcome>;
  /**
   * Goes on with a run that waits, was paused or was cut off, here or in another process, and with one that ended for a reason
   * outside of it: a provider that was down, a key, and, given more, a budget, its time or its turns. Any other that has ended is
   * told again. Of a run below another the root goes on, and is told of.
   */
  resume(run: string, options?: ResumeOptions): Promise<RunOutcome>;
  /**
   * Lets what is under way be recorded and gives everything back. Whoever is with a run is told first how it stands, and such
   * runs can be resumed. Nothing can be asked of it afterwards.
   */
  close(): Promise<void>;
}

/** Opens a project for use from a program. */
export async function createTroupe(options: TroupeOptions = {}): Promise<Troupe> {
  checkOpening(options);
  const { root, env = process.env, agents, tools, model, modelForAll } = options;
  const cwd = process.cwd();
  const folder = root === undefined ? undefined : resolve(cwd, root);
  if (folder !== undefined && !(await isFolder(folder)))
    throw new TroupeError('usage', `There is no folder ${folder}`, { fix: 'Make it, or name another as `root`.' });
  return await openTroupe({ cwd, root: folder, env, flags: { model: modelForAll, defaultModel: model } }, { agents, tools });
}

/** Opens the project, runs one agent in it and closes it again: `createTroupe`, `run` and `close` in one. */
export async function run(
  agent: string,
  prompt: string | UserMessage,
  options: TroupeOptions & RunOptions = {},
): Promise<RunOutcome> {
  const { opens, runs } = splitOptions(options);
  // Before anything is made for it.
  runs.signal?.throwIfAborted();
  await using troupe = await createTroupe(opens);
  return await troupe.run(agent, prompt, runs);
}

export async function openTroupe(options: OpenOptions, extras: Extras): Promise<Troupe> {
  return troupeOf(await openProject(options, extras), options.clock, extras.agents);
}

/** What programs have of a project that is open; closing one closes the other. */
export function troupeOf(project: Project, clock: Clock = systemClock, brought: readonly AgentDefinition[] = []): Troupe {
  const { root, ledger } = project;
  const visits = createVisits({ engine: checkedEngine(project.engine), close: project.close });
  const stage: Stage = { engine: project.engine, resume: visits.engine.resume, ledger, clock, closing: visits.closing };
  const all: Opened = { ...stage, project, brought };
  const { close } = visits;
  return {
    root,
    engine: visits.engine,
    ledger,
    artifacts: project.artifacts,
    run: (agent, prompt, given = {}) => visits.during((begun) => runAgent(all, begun, agent, prompt, given)),
    resume: (id, given = {}) => visits.during((begun) => resumeRun(stage, begun, id, given)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Opened extends Stage {
  readonly project: Project;
  /** The agents of the program itself. */
  readonly brought: readonly AgentDefinition[];
}

async function runAgent(
  { project, brought, ...stage }: Opened,
  begun: () => void,
  agent: string,
  prompt: string | UserMessage,
  options: RunOptions,
): Promise<RunOutcome> {
  checkRunning(options);
  requireAgentName(agent);
  const input = requestOf(prompt);
  options.signal?.throwIfAborted();
  const { budget } = options;
  const workspace = options.workspace === undefined ? project.config.workspace : resolve(options.workspace);
  if (!(await isFolder(workspace)))
    throw new TroupeError('usage', `There is no workspace ${workspace}`, {
      fix: 'Make the folder, or name another: `workspace` of the run or of troupe.yaml.',
    });
  const session = options.session === undefined ? undefined : await knownSession(stage, options.session);
  const heard = hear(stage.engine, options.onText !== undefined);
  const started = await stage.engine.start({ agent, input, session, workspace, budget });
  if (started.kind === 'refused') {
    heard.close();
    throw await explained(project, brought, agent, started.error);
  }
  begun();
  return await keepCompany(stage, { ...started.handle, agent }, options, { from: 'start', heard });
}

async function resumeRun(stage: Stage, begun: () => void, text: string, options: ResumeOptions): Promise<RunOutcome> {
  checkResuming(options);
  const id = runIdOf(text);
  options.signal?.throwIfAborted();
  const [asked] = await stage.ledger.runs({ run: id, limit: 1 });
  if (asked === undefined) throw unknownRun(id);
  // Of a run below another the whole tree goes on, and it is the root that is spoken of.
  const { run, session, agent } = await rootOf(stage.ledger, asked);
  const { budget, model, maxTurns } = options;
  const heard = hear(stage.engine, options.onText !== undefined);
  const resumed = await stage.engine.resume(run, { budget, model, maxTurns });
  if (resumed.kind !== 'resumed') heard.close();
  if (resumed.kind === 'refused') throw refusedWith(resumed.error);
  if (resumed.kind === 'unknown') throw unknownRun(id);
  begun();
  if (resumed.kind === 'held') {
    const { pid, host } = resumed.owner;
    throw new TroupeError('held', `Process ${pid} on ${host} drives this run now`, {
      fix: 'Wait until it is done, or follow its events: troupe.ledger.tail(session, 0, signal).',
    });
  }
  const handle: RunHandle =
    resumed.kind === 'resumed'
      ? resumed.handle
      : { run, session, done: Promise.resolve({ kind: 'ended', result: resumed.result }) };
  return await keepCompany(stage, { ...handle, agent }, options, { from: 'now', heard });
}

const unknownRun = (run: RunId): TroupeError =>
  new TroupeError('unknown_run', `There is no run ${run} in this ledger`, { fix: 'Open the project that it was run in.' });

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** A session that is not there would begin under that name, and remember nothing. One of a group has its members' prompts. */
async function knownSession({ ledger }: Stage, text: string): Promise<SessionId> {
  const session = text as SessionId;
  const another = 'Give the `session` of an earlier result, or none to begin a new one.';
  const { ownerOfSession } = await import('../groups/organisation.ts');
  const group = await ownerOfSession(ledger, session);
  if (group === undefined) {
    if ((await ledger.read({ session, limit: 1 })).length > 0) return session;
    throw new TroupeError('unknown_session', `There is no session ${text} in this ledger`, { fix: another });
  }
  throw new TroupeError('usage', `The session ${text} belongs to the group ${group.name}`, {
    fix: group.deleted ? another : `Talk to the group: troupe groups send "${group.name}" "…"`,
  });
}
