/** `troupe run`: starts an agent on a prompt and stays with it. */
import { stat } from 'node:fs/promises';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { TroupeError } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { RunHandle } from '../../engine/port.ts';
import { readAll } from '../../engine/record/read-all.ts';
import type { Budget } from '../../events/going-on.ts';
import { userText } from '../../events/messages.ts';
import { standingNext } from '../../front/standing.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createFollower } from '../../library/follow.ts';
import { findRoot } from '../../project/config.ts';
import type { Project } from '../../project/project.ts';
import { foldBudget, initialBudget, type Totals } from '../../projections/budget.ts';
import { packagesIn, packageTypes, type ShownPackage } from '../../projections/patterns/task-packages.ts';
import { allowServers } from '../agents/allow.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { findSession, latestConversation } from '../drive/find-session.ts';
import { budgetIn, chooseView, finishRun, hearFor, type RunTermsOptions } from '../drive/finish-run.ts';
import { sayClosed, sayPassedOver } from '../drive/passed-over.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { asCalled, type CommandContext, callOf, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { readPrompt } from '../terminal/read-prompt.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { inRounds, type Round, tried } from '../watch/watch-rounds.ts';
import { everyFile, filesOfOne, type WatchedFiles } from '../watch/watched-files.ts';

export interface RunCommandOptions extends RunTermsOptions {
  readonly session?: string | undefined;
  /** Goes on with a conversation: the newest, or the one of `session`. */
  readonly continue?: boolean | undefined;
  readonly workspace?: string | undefined;
  /** Again whenever a file of the agent changes. */
  readonly watch?: boolean | undefined;
  readonly var?: Readonly<Record<string, string>> | undefined;
  /** Stops before the first task is handed over, and prints what would be. */
  readonly planOnly?: boolean | undefined;
}

export async function runCommand(
  context: CommandContext,
  first: string,
  second: string | undefined,
  options: RunCommandOptions,
): Promise<ExitCode> {
  if (options.watch === true) refuseBesideWatch(options);
  // A conversation has its agent: what stands alone is the prompt.
  const [named, argument] = options.continue === true && second === undefined ? [undefined, first] : [first, second];
  const agentFile = named === undefined ? undefined : await agentFileOf(context.cwd, named);
  const prompt = await readPrompt(context.terminal, argument);
  const given = { named, first, agentFile, prompt };
  if (options.watch !== true) return (await runOnce(context, given, options, budgetIn(options))).code;
  return await runInRounds(context, given, options);
}

function refuseBesideWatch({ json, continue: goesOn, session }: RunCommandOptions): void {
  if (json) throw usageError('--watch runs again and again, and --json prints one value', 'take --jsonl, or leave one out');
  if (goesOn === true || session !== undefined)
    throw usageError('With --watch every run is a conversation of its own', 'leave out --continue and --session');
}

interface Given {
  readonly named: string | undefined;
  readonly first: string;
  readonly agentFile: string | undefined;
  readonly prompt: string;
}

interface RanOnce {
  readonly code: ExitCode;
  readonly look: Round['look'];
  /** What the run took of its limits. */
  readonly took: Totals & { readonly wallMs: number };
}

async function runOnce(
  context: CommandContext,
  { named, first, agentFile, prompt }: Given,
  options: RunCommandOptions,
  budget: Budget | undefined,
): Promise<RanOnce> {
  const { model, maxTurns, workspace, var: vars, require, notify } = options;
  return withProject(context, { flags: { model, maxTurns, workspace, vars, agentFile, require, notify } }, async (project) => {
    const files = { ...(await project.agents()), root: project.root, variables: Object.keys(project.config.vars) };
    const before = await goesOnFrom(context, project, options);
    const agent = await findAgent(files, named ?? before?.agent ?? first, agentFile);
    const { definition } = agent;
    await requireFolder(project.config.workspace);
    if (options.quiet !== true) sayPassedOver(context, project.config);
    // With a model for everybody the one that is given is looked at when the run starts.
    if (options.quiet !== true && model === undefined)
      sayClosed(
        context,
        project.config,
        files.agents.map(({ definition }) => definition),
        definition,
      );
    if (context.terminal.interactive) await askAboutServers(context, project, files.agents, definition);
    const asked = { agent: definition.name, prompt, before, budget };
    const { code, took } = await startAndDrive(context, project, asked, options);
    const place = { root: project.root, env: context.terminal.env };
    return { code, took, look: () => filesOfOne(place, files.agents, agent) };
  });
}

/** The limits are for all runs together: each gets what is left. */
async function runInRounds(context: CommandContext, given: Given, options: RunCommandOptions): Promise<ExitCode> {
  const { env } = context.terminal;
  let look = async (): Promise<WatchedFiles> => everyFile({ root: await findRoot(context.cwd), env }, []);
  let left = budgetIn(options);
  return await inRounds(context, look, (number) =>
    tried(context, look, async () => {
      if (number > 1) context.terminal.progress.line(`\nrun ${number}: a file has changed`);
      const ran = await runOnce(context, given, options, left);
      look = ran.look;
      left = left && remaining(left, ran.took);
      const spent = left === undefined ? undefined : usedUp(left);
      const last = spent === undefined && number >= limits.watchRuns ? `${limits.watchRuns} runs were made (watchRuns)` : spent;
      return { code: ran.code, look, last };
    }),
  );
}

function remaining(budget: Budget, took: RanOnce['took']): Budget {
  const less = (limit: number | undefined, used: number) => limit && Math.max(0, limit - used);
  return present({
    usd: less(budget.usd, took.nanoUsd / 1e9),
    tokens: less(budget.tokens, took.tokens),
    calls: less(budget.calls, took.calls),
    wallMs: less(budget.wallMs, took.wallMs),
  });
}

const OPTIONS = { usd: '--budget-usd', tokens: '--budget-tokens', calls: '--budget-calls', wallMs: '--budget-wall' } as const;

function usedUp(left: Budget): string | undefined {
  const empty = (['usd', 'tokens', 'calls', 'wallMs'] as const).find((key) => left[key] === 0);
  return empty && `what ${OPTIONS[empty]} gave for all runs is used up`;
}

/** The newest run of the session that the new one is part of, if it is part of one. */
async function goesOnFrom(
  context: CommandContext,
  { ledger, engine }: Project,
  options: RunCommandOptions,
): Promise<RunRow | undefined> {
  const { progress } = context.terminal;
  if (options.session !== undefined) return await findSession(ledger, options.session);
  if (options.continue !== true) return undefined;
  const { newest, passedOver } = await latestConversation(ledger);
  // Said with --quiet too: whoever calls may mean the other one.
  if (passedOver !== undefined) {
    const { state, next = `troupe show ${shortId(passedOver.run)}` } = await standingNext(engine, passedOver);
    const how = `the newer one, with ${safeLine(passedOver.agent)}, has a run that is ${state}`;
    progress.line(`${progress.paint.yellow('passed over')}: ${how}: ${asCalled(next, callOf(context))}`);
  }
  return newest;
}

type Handled = Pick<RunHandle, 'session' | 'run'>;

interface Asked {
  readonly agent: string;
  readonly prompt: string;
  /** The newest run of the session that it is part of. */
  readonly before: RunRow | undefined;
  readonly budget: Budget | undefined;
}

async function startAndDrive(
  context: CommandContext,
  project: Project,
  { agent, prompt, before, budget }: Asked,
  options: RunCommandOptions,
): Promise<Omit<RanOnce, 'look'>> {
  const startedAt = context.clock.elapsed();
  const heard = hearFor(context, project, options);
  const started = await project.engine.start({
    agent,
    input: userText(prompt),
    session: before?.session,
    workspace: project.config.workspace,
    budget,
    planOnly: options.planOnly,
  });
  if (started.kind === 'refused') {
    const { code, message, fix } = started.error;
    throw new TroupeError(code, message, { fix });
  }
  const { handle } = started;
  if (before !== undefined && options.continue === true && options.quiet !== true)
    context.terminal.progress.prose(`going on with ${safeLine(agent)}, after ${shortId(before.run)}`);
  const follower = createFollower(project.ledger, handle.session);
  await follower.beginAt(handle.run);
  const view = chooseView(context, handle.run, options);
  const end = await stayWithRun({ context, project, follower, heard, view, approveAll: options.yes === true }, handle);
  const { session, run } = handle;
  const isPlan = options.planOnly === true && end.kind === 'paused';
  const packages = isPlan ? await packagesOf(project, handle) : undefined;
  const finished = await finishRun(context, project, { session, run, tree: follower.tree, end, packages }, options);
  if (packages !== undefined) printPackages(context, run, packages, options);
  const code = isPlan ? exitCodes.completed : finished;
  const wallMs = context.clock.elapsed() - startedAt;
  return { code, took: { ...(budget === undefined ? NOTHING : await tookOf(project, handle)), wallMs } };
}

async function packagesOf({ ledger }: Project, { session, run }: Handled): Promise<readonly ShownPackage[]> {
  return packagesIn(await readAll(ledger, session, { root: run, types: packageTypes, exact: false }));
}

/** What would be handed over, as it would be; one document after the other. */
function printPackages(
  context: CommandContext,
  run: RunId,
  packages: readonly ShownPackage[],
  { json, jsonl }: RunCommandOptions,
): void {
  const { out, progress } = context.terminal;
  if (json !== true && jsonl !== true) out.write(packages.map(({ yaml }) => safeText(yaml)).join('---\n'));
  progress.prose(
    `${counted(packages.length, 'task')}, none handed over yet; go on with: ${callOf(context)} resume ${shortId(run)}`,
  );
}

const NOTHING: Totals = { calls: 0, tokens: 0, nanoUsd: 0 };

/** As the limits count it: what was reserved and never settled may have been spent. */
async function tookOf({ ledger }: Project, { session, run }: Handled): Promise<Totals> {
  const types = ['budget.reserved', 'budget.settled'] as const;
  const events = await readAll(ledger, session, { root: run, types, exact: false });
  const use = events.reduce(foldBudget, initialBudget()).get(run);
  if (use === undefined) return NOTHING;
  const { reserved, spent } = use;
  return {
    calls: reserved.calls + spent.calls,
    tokens: reserved.tokens + spent.tokens,
    nanoUsd: reserved.nanoUsd + spent.nanoUsd,
  };
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
