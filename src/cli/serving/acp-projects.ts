/**
 * The projects that ACP sessions work in: each session's folder belongs to one, unless the command names it. As an executor there
 * is one for all, whose state is kept where the caller says, and which nothing in the folders of its sessions can change.
 */
import { mkdir, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { CODING_AGENT_NAME, codingAgent } from '../../agents/coding-agent.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { modelsNamed, referencesOf } from '../../agents/definition/references.ts';
import { loadAgent } from '../../agents/file/load.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { personHere } from '../../library/person-here.ts';
import { findRoot } from '../../project/config.ts';
import type { Extras, OpenOptions, Project } from '../../project/project.ts';
import type { AcpProject, BroughtServers } from '../../protocols/acp/needs.ts';
import { conversations } from '../drive/find-session.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';

export interface AcpProjectsOptions {
  /** Who answers, by name. */
  readonly agent?: string | undefined;
  /** Or by file. */
  readonly agentFile?: string | undefined;
  readonly model?: string | undefined;
  readonly maxTurns?: number | undefined;
  /** As an executor: where state is kept. */
  readonly home?: string | undefined;
  readonly executor?: boolean | undefined;
  /** As an executor: the project whose settings count; without one, only the user's own do. */
  readonly settings?: string | undefined;
}

export interface AcpProjects {
  open(cwd: string): Promise<AcpProject>;
  close(): Promise<void>;
}

export function createAcpProjects(context: CommandContext, options: AcpProjectsOptions): AcpProjects {
  const open = new Map<string, Promise<{ readonly project: Project; readonly acp: AcpProject }>>();
  const place = options.executor === true ? executorPlace(context, options) : editorPlace(context, options);
  return {
    async open(cwd) {
      await requireSessionFolder(cwd);
      const root = await place.rootOf(cwd);
      const known = open.get(root);
      if (known !== undefined) return (await known).acp;
      if (open.size >= limits.acpProjects)
        throw new TroupeError('limit', `${limits.acpProjects} projects are open (acpProjects).`, {
          fix: 'Start another `troupe acp`.',
        });
      const opening = openOne(context, options, await place.optionsOf(root));
      open.set(root, opening);
      // What could not be opened may be put right meanwhile.
      opening.catch(() => open.delete(root));
      return (await opening).acp;
    },
    async close() {
      const all = await Promise.allSettled(open.values());
      await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.project.close() : undefined)));
    },
  };
}

interface Place {
  rootOf(cwd: string): Promise<string>;
  optionsOf(root: string): Promise<OpenOptions>;
}

function editorPlace(context: CommandContext, { agentFile, maxTurns, model }: AcpProjectsOptions): Place {
  const { cwd, terminal, clock } = context;
  // With -C the project is named, and otherwise it is the one that the session's folder belongs to.
  const fixed = cwd === terminal.cwd ? undefined : cwd;
  return {
    rootOf: (folder) => findRoot(fixed ?? folder),
    optionsOf: async (root) => ({
      cwd: root,
      root,
      env: terminal.env,
      clock,
      flags: { agentFile, maxTurns, defaultModel: model },
    }),
  };
}

/** Nothing of the folder that it works in is read as settings: it may be a stranger's, or its own work. */
function executorPlace(context: CommandContext, { home: named, settings, maxTurns, model }: AcpProjectsOptions): Place {
  const { terminal, clock } = context;
  const home = resolve(terminal.cwd, named ?? (terminal.env['TROUPE_HOME'] || stateFolder(terminal.env)));
  const root = settings === undefined ? home : resolve(terminal.cwd, settings);
  const env = { ...terminal.env, TROUPE_HOME: home, TROUPE_LEDGER: `sqlite:${join(home, 'ledger.db')}` };
  return {
    rootOf: async () => root,
    optionsOf: async () => {
      await mkdir(home, { recursive: true, mode: 0o700 });
      return { cwd: root, root, env, clock, flags: { maxTurns, defaultModel: model, engine: 'embedded' } };
    },
  };
}

const stateFolder = (env: Environment): string =>
  join(env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'), 'troupe', 'executor');

async function requireSessionFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw usageError(`There is no folder ${cwd}`, 'Give the folder that the session works in.');
}

async function openOne(
  context: CommandContext,
  options: AcpProjectsOptions,
  opening: OpenOptions,
): Promise<{ readonly project: Project; readonly acp: AcpProject }> {
  const isExecutor = options.executor === true;
  const own = isExecutor && options.agentFile !== undefined ? await fileAgent(options.agentFile, opening.cwd) : codingAgent();
  const chosen = createChosen();
  const extras: Extras = { agents: [own], adapt: chosen.adapt, trusts: () => isExecutor };
  const project = await context.openProject({ ...opening, lasting: true }, extras);
  const agents = async (): Promise<readonly AgentDefinition[]> => {
    if (isExecutor) return [own];
    const found = (await project.agents()).agents.filter(({ disabled }) => !disabled).map(({ definition }) => definition);
    return found.length === 0 ? [own] : found.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  };
  const acp: AcpProject = {
    ...{ root: project.root, engine: project.engine, ledger: project.ledger, agents },
    ...{ bring: chosen.bring, answers: chosen.answers, forget: chosen.forget },
    firstAgent: async () => (isExecutor ? own.name : await firstAgent(project, await agents(), options)),
    async models() {
      const named = (await agents()).flatMap((agent) => modelsNamed(agent));
      return [...new Set([...project.config.models, ...named])];
    },
    async modelProblem(name) {
      const opened = await project.models.open(name);
      return opened.ok ? undefined : opened.error.message;
    },
    async unknownServers(session) {
      if (isExecutor) return [];
      const all = new Map((await agents()).map((agent) => [agent.name, chosen.adapt(agent, session)]));
      const first = all.get(chosen.agentOf(session) ?? '');
      const reached = new Set(first === undefined ? [] : [first]);
      for (const agent of reached)
        for (const { target } of referencesOf(agent)) {
          const next = all.get(target);
          if (next !== undefined) reached.add(next);
        }
      const found = (await Promise.all([...reached].map((agent) => project.servers.open(agent)))).flat();
      return found.map((one) => ({
        ...{ server: one.server, shown: one.shown },
        allow: async () => {
          const time = new Date(context.clock.now()).toISOString();
          const added = await project.servers.allow(one, { by: personHere(), host: hostname(), through: 'acp', time });
          if (!added.ok)
            throw new TroupeError('server_refused', `The MCP server cannot be remembered as allowed: ${added.error}`);
        },
      }));
    },
  };
  return { project, acp };
}

async function fileAgent(path: string, root: string): Promise<AgentDefinition> {
  const loaded = await loadAgent({ path, root, variables: [] });
  if (loaded.ok) return loaded.value.definition;
  throw new TroupeError('invalid_agent', loaded.error.map(formatDiagnostic).join('\n'), { fix: 'Correct the file.' });
}

/** As `troupe chat` finds it: the one that is named, the only one, or the one that was talked to last. */
async function firstAgent(
  { ledger }: Project,
  agents: readonly AgentDefinition[],
  { agent }: AcpProjectsOptions,
): Promise<string> {
  if (agent !== undefined) return agent;
  const [only, second] = agents;
  if (second === undefined) return only?.name ?? CODING_AGENT_NAME;
  for await (const [newest] of conversations(ledger)) {
    if (agents.some(({ name }) => name === newest.agent)) return newest.agent;
    break;
  }
  throw usageError(
    'Which agent do you want to talk to?',
    `Name it: troupe acp <agent>; there are: ${agents.map(({ name }) => name).join(', ')}.`,
  );
}

interface Chosen {
  readonly servers: BroughtServers;
  readonly agent: string | undefined;
  readonly model: string | undefined;
}

const NOTHING_CHOSEN: Chosen = { servers: {}, agent: undefined, model: undefined };

/** What clients have chosen for their sessions: it is for the agent that answers there, and for nobody below it. */
function createChosen() {
  const sessions = new Map<string, Chosen>();
  const of = (session: SessionId | undefined): Chosen => sessions.get(session ?? '') ?? NOTHING_CHOSEN;
  return {
    agentOf: (session: SessionId): string | undefined => of(session).agent,
    bring: (session: SessionId, servers: BroughtServers): void => void sessions.set(session, { ...of(session), servers }),
    answers: (session: SessionId, agent: string, model: string | undefined): void =>
      void sessions.set(session, { ...of(session), agent, model }),
    forget: (session: SessionId): void => void sessions.delete(session),
    adapt(agent: AgentDefinition, session: SessionId | undefined): AgentDefinition {
      const { servers, model, agent: answering } = of(session);
      if (answering !== agent.name || agent.remote !== undefined) return agent;
      const named = model === undefined || agent.executor !== undefined ? agent : { ...agent, models: [model] };
      // What the agent's own file declares under the same name stays what it is.
      const names = Object.keys(servers).filter((name) => !Object.hasOwn(agent.mcp ?? {}, name));
      if (names.length === 0) return named;
      const tools = [...new Set([...(agent.tools ?? []), ...names.map((name) => `mcp:${name}`)])];
      return { ...named, mcp: { ...servers, ...agent.mcp }, tools };
    },
  };
}
