/** `troupe run`: starts an agent on a prompt and stays with it. */
import { stat } from 'node:fs/promises';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { TroupeError } from '../../base/errors.ts';
import { type SessionId, shortId } from '../../base/ids.ts';
import { userText } from '../../events/messages.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createFollower } from '../../library/follow.ts';
import type { Project } from '../../project/project.ts';
import { allowServers } from '../agents/allow.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { findSession, latestConversation } from '../drive/find-session.ts';
import { budgetIn, chooseView, finishRun, type RunTermsOptions } from '../drive/finish-run.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { readPrompt } from '../terminal/read-prompt.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface RunCommandOptions extends RunTermsOptions {
  readonly session?: string | undefined;
  /** Goes on with a conversation: the newest, or the one of `session`. */
  readonly continue?: boolean | undefined;
  readonly workspace?: string | undefined;
  readonly var?: Readonly<Record<string, string>> | undefined;
}

export async function runCommand(
  context: CommandContext,
  first: string,
  second: string | undefined,
  options: RunCommandOptions,
): Promise<ExitCode> {
  // A conversation has its agent: what stands alone is the prompt.
  const [named, argument] = options.continue === true && second === undefined ? [undefined, first] : [first, second];
  const agentFile = named === undefined ? undefined : await agentFileOf(context.cwd, named);
  const prompt = await readPrompt(context.terminal, argument);
  const { model, maxTurns, workspace, var: vars, require, notify } = options;
  return withProject(context, { flags: { model, maxTurns, workspace, vars, agentFile, require, notify } }, async (project) => {
    const files = { ...(await project.agents()), root: project.root, variables: Object.keys(project.config.vars) };
    const before = await goesOnFrom(project, options);
    const { definition } = await findAgent(files, named ?? before?.agent ?? first, agentFile);
    await requireFolder(project.config.workspace);
    if (context.terminal.interactive) await askAboutServers(context, project, files.agents, definition);
    if (before !== undefined && options.continue === true && options.quiet !== true)
      context.terminal.progress.line(`going on with ${safeLine(definition.name)}, after ${shortId(before.run)}`);
    return startAndDrive(context, project, { agent: definition.name, prompt, session: before?.session }, options);
  });
}

/** The newest run of the session that the new one is part of, if it is part of one. */
async function goesOnFrom({ ledger }: Project, options: RunCommandOptions): Promise<RunRow | undefined> {
  if (options.session !== undefined) return await findSession(ledger, options.session);
  return options.continue === true ? await latestConversation(ledger) : undefined;
}

interface Asked {
  readonly agent: string;
  readonly prompt: string;
  readonly session: SessionId | undefined;
}

async function startAndDrive(
  context: CommandContext,
  project: Project,
  { agent, prompt, session }: Asked,
  options: RunCommandOptions,
): Promise<ExitCode> {
  const started = await project.engine.start({
    agent,
    input: userText(prompt),
    session,
    workspace: project.config.workspace,
    budget: budgetIn(options),
  });
  if (started.kind === 'refused') {
    const { code, message, fix } = started.error;
    throw new TroupeError(code, message, { fix });
  }
  const { handle } = started;
  const follower = createFollower(project.ledger, handle.session);
  await follower.beginAt(handle.run);
  const view = chooseView(context, handle.run, options);
  const end = await stayWithRun({ context, project, follower, view, approveAll: options.yes === true }, handle);
  return await finishRun(context, project, { session: handle.session, run: handle.run, tree: follower.tree, end }, options);
}

/** Before anything is paid for: the servers that the agent and those it may call would start, which nobody has allowed yet. */
export async function askAboutServers(
  context: CommandContext,
  project: Project,
  agents: readonly LoadedAgent[],
  first: AgentDefinition,
): Promise<void> {
  const byName = new Map(agents.map(({ definition }) => [definition.name, definition]));
  const reached = new Set([first]);
  for (const agent of reached)
    for (const { target } of referencesOf(agent)) {
      const next = byName.get(target);
      if (next !== undefined) reached.add(next);
    }
  for (const agent of reached) await allowServers(context, project.servers, await project.servers.open(agent), false);
}

export async function requireFolder(workspace: string): Promise<void> {
  const found = await stat(workspace).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw usageError(
    `There is no workspace ${workspace}`,
    'make the folder, or name another: --workspace, or `workspace` in troupe.yaml',
  );
}
