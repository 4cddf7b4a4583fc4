/**
 * Opens a project: reads its settings and puts the parts together. This is the one place that knows them all; everything
 * above it (command line, servers, embedding programs) sees only the ports.
 */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { ProjectCheck } from '../agents/check-project.ts';
import { confinedPath } from '../agents/confined-path.ts';
import type { AgentDefinition } from '../agents/definition.ts';
import { formatDiagnostic } from '../agents/diagnostics.ts';
import { readText } from '../agents/read-text.ts';
import { expandPrompt, promptValues } from '../agents/variables.ts';
import { systemClock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { createIds, type SessionId } from '../base/ids.ts';
import { systemRandom } from '../base/random.ts';
import { ok } from '../base/result.ts';
import { createEmbeddedEngine } from '../engine/embedded.ts';
import { readAll } from '../engine/read-all.ts';
import type { EngineParts } from '../engine/tree.ts';
import { createRedactor, secretsOf } from '../ledger/redact.ts';
import { openSqliteLedger } from '../ledger/sqlite.ts';
import { createModelCatalogue } from '../models/catalogue.ts';
import { detectDefaultModel } from '../models/detect.ts';
import { createPrices } from '../models/prices.ts';
import { createQuota } from '../models/quota.ts';
import { decide } from '../tools/permissions.ts';
import type { Tool } from '../tools/port.ts';
import { loadConfig, type ProjectConfig, userFolder } from './config.ts';
import { createSavedAgents } from './group-agents.ts';
import type { OpenOptions, Project } from './project.ts';
import { createToolsets } from './toolsets.ts';

/** What an embedding program may bring along. */
export interface Extras {
  /** Agents beside those in files; they win over files of the same name. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

export async function openProject(options: OpenOptions, extras: Extras = {}): Promise<Project> {
  const { cwd, root, env, flags } = options;
  const config = await loadConfig({ cwd, root, env, flags });
  if (!config.ok)
    throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), {
      fix: 'Correct the settings and try again.',
    });
  return assemble(config.value, options, extras);
}

function assemble(config: ProjectConfig, options: OpenOptions, extras: Extras): Project {
  const { env, clock = systemClock, random = systemRandom } = options;
  const ids = createIds(clock, random);
  const secrets = secretsOf(env);
  const ledger = openSqliteLedger({
    path: config.ledger,
    clock,
    ids,
    secrets,
    durability: config.durability,
    readOnly: options.readOnly === true,
  });
  const models = createModelCatalogue({
    env,
    clock,
    folder: config.root,
    config: { providers: config.providers },
    readSession: (session) => readAll(ledger, session as SessionId),
  });
  const prices = createPrices({ clock, env, providers: config.providers, overrides: config.prices });
  const toolsets = createToolsets({ clock, random, env, folder: config.root, mcp: config.mcp, tools: extras.tools });
  const saved = createSavedAgents(ledger);
  const agents = createAgentSource(config, options, extras);
  const parts: EngineParts = {
    ledger,
    clock,
    random,
    ids,
    owner: `process ${process.pid} on ${hostname()}`,
    models,
    prices,
    quota: createQuota({ clock, random }),
    agent: async (name, session) => agents.overridden(session && (await saved(session, name))) ?? (await agents.find(name)),
    tools: toolsets.of,
    permission: (agent, tool) => decide(tool, agent.permissions, config.permissions),
    contextFile: (_agent, file) => readContext(config.root, file),
    redact: createRedactor(secrets).text,
    defaultModels: async () => {
      if (config.models.length > 0) return ok(config.models);
      const detected = await detectDefaultModel({ env, clock });
      return detected.ok ? ok([detected.value]) : detected;
    },
    prompt: (agent, workspace) => {
      if (!agent.prompt.includes('${')) return agent.prompt;
      const timeZone = env['TZ'] || Intl.DateTimeFormat().resolvedOptions().timeZone;
      return expandPrompt(agent.prompt, promptValues(agent, { now: clock.now(), timeZone, workspace, vars: config.vars }));
    },
    whenInDoubt: config.whenInDoubt,
    projectBudget: Object.keys(config.budget).length === 0 ? undefined : config.budget,
  };
  const engine = createEmbeddedEngine(parts);
  return {
    root: config.root,
    config,
    ledger,
    engine,
    models,
    prices,
    groups: {
      ...{ ledger, engine, clock, ids, env, root: config.root, home: config.home },
      workspace: config.workspace,
      agent: agents.find,
    },
    agents: agents.check,
    async close() {
      await engine.close();
      await toolsets.close();
      await ledger.close();
    },
  };
}

/** A file for context is inside the project and text, or it is not read. */
async function readContext(root: string, file: string): Promise<string | undefined> {
  const path = await confinedPath(root, resolve(root, file));
  if (!path.ok) return undefined;
  const text = await readText(path.value);
  return text.ok ? text.value : undefined;
}

interface AgentSource {
  /** With what this command overrides for all agents. */
  overridden(agent: AgentDefinition | undefined): AgentDefinition | undefined;
  find(name: string): Promise<AgentDefinition | undefined>;
  check(): Promise<ProjectCheck>;
}

function createAgentSource(config: ProjectConfig, options: OpenOptions, extras: Extras): AgentSource {
  const given = new Map((extras.agents ?? []).map((agent) => [agent.name, agent]));
  const { maxTurns, agentFile, model } = options.flags ?? {};
  let named: Promise<AgentDefinition | undefined> | undefined;
  let checked: Promise<ProjectCheck> | undefined;

  const readAgents = async (): Promise<ProjectCheck> => {
    // Agent files are read only where they are needed; a program may bring all its agents itself.
    const { checkProject } = await import('../agents/check-project.ts');
    return await checkProject({
      projectRoot: config.root,
      userConfigDir: userFolder(options.env),
      variables: Object.keys(config.vars),
      mcpServers: Object.keys(config.mcp),
    });
  };
  const check = (): Promise<ProjectCheck> => {
    checked = readAgents();
    return checked;
  };
  const fromFlag = async (): Promise<AgentDefinition | undefined> => {
    if (agentFile === undefined) return undefined;
    const { loadAgent } = await import('../agents/load.ts');
    const loaded = await loadAgent({ path: agentFile, root: config.root, variables: Object.keys(config.vars) });
    if (!loaded.ok) throw new TroupeError('agent', loaded.error.map(formatDiagnostic).join('\n'));
    return loaded.value.definition;
  };
  const overridden = (agent: AgentDefinition | undefined): AgentDefinition | undefined => {
    if (agent === undefined) return undefined;
    return { ...agent, ...(maxTurns === undefined ? {} : { maxTurns }), ...(model === undefined ? {} : { models: [model] }) };
  };
  return {
    check,
    overridden,
    async find(name) {
      const own = given.get(name);
      if (own !== undefined) return overridden(own);
      named ??= fromFlag();
      const flagged = await named;
      if (flagged?.name === name) return overridden(flagged);
      const { agents } = await (checked ?? check());
      return overridden(agents.find((agent) => agent.definition.name === name && !agent.disabled)?.definition);
    },
  };
}
