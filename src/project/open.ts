/**
 * Opens a project: reads its settings and puts the engineOptions together. This is the one place that knows them all; everything
 * above it (command line, servers, embedding programs) sees only the ports.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readContextFile } from '../agents/context-files.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { expandPrompt, promptValues } from '../agents/definition/variables.ts';
import { formatDiagnostic } from '../agents/text/diagnostics.ts';
import { createArtifactArchive } from '../artifacts/archive.ts';
import { createEnvironments } from '../artifacts/environment/fingerprint.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { createIds, type SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { ok } from '../base/result.ts';
import { secretsOf } from '../base/secrets/redact.ts';
import { createEmbeddedEngine } from '../engine/local/engine.ts';
import type { EngineOptions } from '../engine/options.ts';
import type { Engine } from '../engine/port.ts';
import { readExactly } from '../engine/record/read-all.ts';
import type { RestateAddress } from '../engine/restate/address.ts';
import { createSavedAgents } from '../groups/agents.ts';
import { ledgerSecrets } from '../ledger/address.ts';
import { openLedger } from '../ledger/open.ts';
import type { Ledger } from '../ledger/port.ts';
import { createKeyRing } from '../ledger/seals/keys.ts';
import { createProtection, type Protection } from '../ledger/seals/protection.ts';
import { createLiveChannel } from '../live/live-channel.ts';
import type { LiveChannel } from '../live/port.ts';
import { createPostgresLive } from '../live/postgres-live.ts';
import { createModelCatalogue } from '../models/catalogue.ts';
import { detectDefaultModel } from '../models/detect.ts';
import type { Model, ModelCatalogue } from '../models/port.ts';
import { createPrices } from '../models/prices.ts';
import type { RedisSettings } from '../tasks/redis/redis-tasks.ts';
import { telemetrySecrets } from '../telemetry/settings.ts';
import { decide, decideProtected, decideShown, deniedBy, reasonToAsk } from '../tools/permissions.ts';
import type { Tool } from '../tools/port.ts';
import { createVerifier, type Verifier } from '../tools/shell/verifier.ts';
import { createWorkspaceWatch } from '../tools/watch/workspace-watch.ts';
import { type AgentSource, createAgentSource, withFilesAsTheyAre } from './agent-source.ts';
import { requireRights } from './brought-agents.ts';
import { commandsOf } from './commands-of.ts';
import { loadConfig, type ProjectConfig } from './config.ts';
import { learnsSecrets, secretsInSettings } from './declared-secrets.ts';
import { createLazyExecutors } from './executors/lazy-executors.ts';
import { createPlaces, sandboxOf } from './kept-places.ts';
import { assistantSettings, createLazyAssistants, createLazyHost } from './lazy-assistants.ts';
import { createLazyPeers } from './lazy-peers.ts';
import { beginTelemetry } from './lazy-telemetry.ts';
import { createTaskPlaces } from './places/task-places.ts';
import type { Extras, OpenOptions, Project } from './project.ts';
import { createProjectQuota } from './project-quota.ts';
import { createRuleBook, type RuleBook, withRuleBook } from './rule-book.ts';
import { createChangedFiles, whileWatching } from './servers/changed-files.ts';
import { createDeclaredServers } from './servers/declared-servers.ts';
import { createToolsets } from './toolsets.ts';

export async function openProject(options: OpenOptions, extras: Extras = {}): Promise<Project> {
  const { cwd, root, env, flags } = options;
  const config = await loadConfig({ cwd, root, env, flags });
  if (!config.ok)
    throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), {
      fix: 'Correct the settings and try again.',
    });
  requireRights(extras, config.value);
  const { clock = systemClock, random = systemRandom } = options;
  const { ledgerAddress, durability, dotEnv, taskRedis, telemetry } = config.value;
  const declared = secretsInSettings(config.value);
  const secrets = [
    ...secretsOf(dotEnv, declared),
    ...secretsOf(env, declared),
    ...ledgerSecrets(ledgerAddress),
    ...(taskRedis?.address.secrets() ?? []),
    ...telemetrySecrets(telemetry),
  ];
  const protection = createProtection(secrets, createKeyRing(env, random), random);
  const readOnly = options.readOnly === true;
  const existing = options.existing === true;
  const ids = createIds(clock, random);
  const ledger = await openLedger(ledgerAddress, { clock, ids, protection, durability, readOnly, existing, env });
  const copies = createHearers();
  const told = taskRedis === undefined || readOnly ? ledger : await mirrored(ledger, taskRedis, clock, copies.tell);
  return { ...(await assemble(config.value, told, protection, options, extras)), taskCopies: { onTrouble: copies.onTrouble } };
}

/** Whoever listens late hears what was said before. */
function createHearers() {
  const hearers: ((why: string) => void)[] = [];
  let last: string | undefined;
  return {
    tell(why: string): void {
      last = why;
      for (const hear of hearers) hear(why);
    },
    onTrouble(hear: (why: string) => void): void {
      hearers.push(hear);
      if (last !== undefined) hear(last);
    },
  };
}

/** Loaded only for a project that has a Redis for its tasks. */
async function mirrored(ledger: Ledger, settings: RedisSettings, clock: Clock, onLeft: (why: string) => void): Promise<Ledger> {
  const { createRedisTasks } = await import('../tasks/redis/redis-tasks.ts');
  const { withTaskMirror } = await import('../tasks/mirror.ts');
  return withTaskMirror({ ledger, store: createRedisTasks(settings, clock), clock, ttlMs: settings.ttlMs, onLeft });
}

async function assemble(
  config: ProjectConfig,
  ledger: Ledger,
  protection: Protection,
  options: OpenOptions,
  extras: Extras,
): Promise<Omit<Project, 'taskCopies'>> {
  const { env, clock = systemClock, random = systemRandom } = options;
  const ids = createIds(clock, random);
  const models = withModels(extras.models ?? [], modelsOf(config, ledger, clock));
  const prices = createPrices({ clock, env: config.keyEnv, providers: config.providers, overrides: config.prices });
  const talking = (): Promise<readonly Tool[]> => assistants.tools();
  const { mcp, foreign, root: folder, cluster } = config;
  const declared = createDeclaredServers(config, env, extras.agents, extras.trusts);
  const { watching } = createChangedFiles(config.root, env, config.mcp, random);
  const { places, learn: closeFilesOf } = createPlaces(config, env);
  const sandbox = sandboxOf(config, env, random, places);
  const toolsets = createToolsets({
    ...{ clock, random, env, keyEnv: config.keyEnv, folder, mcp, foreign: foreign.servers, declared },
    ...{ named: config.named, tools: extras.tools, assistants: talking, places, sandbox, watching, secrets: protection.redactor },
  });
  const host = createLazyHost(clock, config.assistants);
  const quota = createProjectQuota(config.ledgerAddress, { clock, random, worker: ids.nonce() });
  const learn = learnsSecrets(config, protection.redactor);
  const agents = createAgentSource(config, options, clock, extras, (read) => {
    learn(read);
    closeFilesOf(read);
  });
  const rules = createRuleBook(config.root, env);
  const executing = createLazyExecutors(config, declared, {
    ...{ clock, random, env, places, sandbox, watching },
    redact: protection.redactor.text,
  });
  const telemetry = await beginTelemetry(config, options, { ledger, clock, random });
  const live = liveIn(config, clock, random, protection, (watcher) => engine.watch(watcher));
  const verifier = createVerifier({ clock, environment: env, sandbox, places });
  const engineOptions: EngineOptions = {
    ...{ ledger, clock, random, ids, watcherElsewhere: live.outside },
    owner: `process ${process.pid} on ${hostname()}`,
    ...{ models, prices, quota, ...executing },
    agent: foundBy(agents, createSavedAgents(ledger), extras),
    tools: toolsets.of,
    ...rightsOf(config, rules),
    redact: protection.redactor.text,
    ...givenBy(config, options, clock),
    host,
    assistants: assistantSettings(config.assistants),
    messageTools: async () => (await talking()).filter(({ name }) => name === 'send_message' || name === 'recv_message'),
    ...proofOf(config, env, clock, { run: (line, at) => whileWatching(watching, () => verifier.run(line, at)) }, protection),
    places: createTaskPlaces(
      { home: config.home, environment: env, clock, ids },
      { clock, environment: env, except: config.ledgerPlaces },
      { ledger, clock, root: config.root },
    ),
    whenInDoubt: config.whenInDoubt,
    peers: createLazyPeers(config, clock, declared, learn),
  };
  const driven = cluster === undefined ? createEmbeddedEngine(engineOptions) : await engineOf(engineOptions, cluster);
  const { lasting } = options;
  const engine = withRuleBook(lasting ? withFilesAsTheyAre(driven, agents) : driven, rules);
  const assistants = createLazyAssistants({
    ...{ engine, ledger, clock, ids, workspace: config.workspace, limits: engineOptions.assistants },
    redact: engineOptions.redact,
    // On a cluster others host what is spawned here.
    warm: cluster === undefined ? host.warm : () => undefined,
    registry: { path: config.ledger, ...agents.registered },
  });
  return {
    ...{ assistants, root: config.root, config, ledger, engine, live, models, prices, quota, telemetry },
    artifacts: createArtifactArchive(ledger, clock),
    groups: {
      ...{ ledger, engine, clock, ids, env, root: config.root, home: config.home },
      workspace: config.workspace,
      agent: lasting ? agents.findNow : agents.find,
    },
    ...{ agents: agents.check, redact: protection.redactor.text, servers: declared, rules },
    declared: { agent: agents.find, tools: toolsets.of, ...promptsAt(config, env) },
    proves: (command, at) => verifier.run(command, { ...at, redact: protection.redactor.text }),
    worker: (given) => {
      // So that it knows who watches when it begins with its first turn.
      live.outside();
      return workerOf(given, agents, engineOptions, config);
    },
    async close() {
      await engine.close();
      const parts = [executing.executors, host, toolsets, assistants, quota, sandbox, live, telemetry];
      await Promise.all(parts.map((part) => part.close()));
      await ledger.close();
    },
  };
}

/** Words go where the ledger is: whoever can read notes in the project's state, or those of its database, may read it too. */
function liveIn(
  { home, ledgerAddress }: ProjectConfig,
  clock: Clock,
  random: Random,
  { redactor }: Protection,
  watch: Engine['watch'],
): LiveChannel {
  const how = { random, redact: redactor.text, watch };
  if (ledgerAddress.kind === 'postgres') return createPostgresLive({ ...how, clock, url: ledgerAddress.location() });
  return createLiveChannel({ ...how, folder: join(home, 'live') });
}

/** What the project's settings and files give to its agents, and what of it goes with a run that others work on. */
function givenBy(
  config: ProjectConfig,
  { env, flags: { model, maxTurns, vars: given } = {} }: OpenOptions,
  clock: Clock,
): Pick<EngineOptions, 'contextFile' | 'defaultModels' | 'prompt' | 'projectBudget' | 'settings'> {
  const { root, vars, models, permissions, verify, budget } = config;
  return {
    contextFile: (file) => readContextFile(root, file),
    defaultModels: () => defaultModels(config, clock),
    prompt: (agent, workspace, more) => filledPrompt(agent, workspace, { ...config, vars: { ...vars, ...more } }, env, clock),
    projectBudget: Object.keys(budget).length === 0 ? undefined : budget,
    settings: { vars, models, permissions, verify, tree: present({ model, maxTurns, vars: given }) },
  };
}

/** As they were filled in at another time, or elsewhere. */
function promptsAt(config: ProjectConfig, env: Environment): Pick<Project['declared'], 'prompt'> {
  return {
    prompt: (agent, workspace, more, { nowMs, timeZone: TZ }) =>
      filledPrompt(agent, workspace, { ...config, vars: { ...config.vars, ...more } }, { ...env, TZ }, { now: () => nowMs }),
  };
}

/** It lives for long: agents that were changed meanwhile are read anew. */
async function workerOf(
  given: Parameters<Project['worker']>[0],
  agents: AgentSource,
  engineOptions: EngineOptions,
  config: ProjectConfig,
): ReturnType<Project['worker']> {
  const fresh: EngineOptions['agent'] = async (name, session) => {
    await agents.refresh();
    return await engineOptions.agent(name, session);
  };
  const { openWorker } = await import('./open-worker.ts');
  return openWorker({ ...engineOptions, agent: fresh }, config, given);
}

/** How it is known that something was done. */
function proofOf(
  { home, ledgerPlaces, verify }: ProjectConfig,
  environment: Environment,
  clock: Clock,
  verifier: Verifier,
  { redactor }: Protection,
): Pick<EngineOptions, 'workspaces' | 'verifier' | 'environments' | 'projectVerify'> {
  // A ledger in the workspace changes with every step; with what SQLite puts beside it, it is nobody's work.
  const workspaces = createWorkspaceWatch({ clock, environment, except: [home, ...ledgerPlaces] });
  const environments = createEnvironments({ environment, redact: redactor.text });
  return { workspaces, verifier, environments, projectVerify: verify };
}

/** A session that belongs to a group has agents of its own. */
function foundBy(agents: AgentSource, saved: ReturnType<typeof createSavedAgents>, { adapt }: Extras): EngineOptions['agent'] {
  return async (name, session) => {
    const found = agents.overridden(session && (await saved(session, name))) ?? (await agents.find(name));
    return found && adapt !== undefined ? adapt(found, session) : found;
  };
}

/** What agents may do, by their files and the project's settings. */
function rightsOf(
  config: ProjectConfig,
  rules: RuleBook,
): Pick<EngineOptions, 'permission' | 'reason' | 'denial' | 'opening' | 'shows' | 'commandsOf'> {
  const { permissions, permissionFiles } = config;
  const settings = permissions.map((one, index) => ({ permissions: one, file: permissionFiles[index] ?? '' }));
  return {
    permission: (agent, tool, call) =>
      decide(tool, agent.permissions, permissions, { ...call, remembered: [...(call.remembered ?? []), ...rules.rules()] }),
    reason: (agent, tool, input) => reasonToAsk(tool, agent.permissions, permissions, input),
    denial: (agent, tool, call) =>
      deniedBy(tool, [{ permissions: agent.permissions ?? {}, file: agent.source }, ...settings], call),
    opening: (agent, protection) => decideProtected(protection, agent.permissions, permissions),
    shows: (agent, tool, path, remembered) =>
      decideShown(tool, path, [agent.permissions ?? {}, ...permissions], [...remembered, ...rules.rules()]),
    commandsOf: (agent) => commandsOf(agent, config),
  };
}

type Environment = OpenOptions['env'];

async function defaultModels({ models, keyEnv: env }: ProjectConfig, clock: Clock): ReturnType<EngineOptions['defaultModels']> {
  if (models.length > 0) return ok(models);
  const detected = await detectDefaultModel({ env, clock });
  return detected.ok ? ok([detected.value.name]) : detected;
}

function filledPrompt(
  agent: AgentDefinition,
  workspace: string,
  { vars }: ProjectConfig,
  env: Environment,
  clock: Pick<Clock, 'now'>,
): string {
  if (!agent.prompt.includes('${')) return agent.prompt;
  const timeZone = env['TZ'] || Intl.DateTimeFormat().resolvedOptions().timeZone;
  return expandPrompt(agent.prompt, promptValues(agent, { now: clock.now(), timeZone, workspace, vars }));
}

function modelsOf({ root, providers, keyEnv: env }: ProjectConfig, ledger: Ledger, clock: Clock): ModelCatalogue {
  const readSession = (session: string) => readExactly(ledger, session as SessionId);
  return createModelCatalogue({ env, clock, folder: root, config: { providers }, readSession });
}

function withModels(brought: readonly Model[], catalogue: ModelCatalogue): ModelCatalogue {
  const own = new Map(brought.map((model) => [model.id, model]));
  if (own.size === 0) return catalogue;
  return {
    open: async (name) => {
      const model = own.get(name);
      return model === undefined ? await catalogue.open(name) : ok(model);
    },
  };
}

/** Loaded only for a project on a cluster. */
async function engineOf(engineOptions: EngineOptions, address: RestateAddress): Promise<Engine> {
  const { createRestateEngine } = await import('../engine/restate/engine.ts');
  return createRestateEngine(engineOptions, address);
}
