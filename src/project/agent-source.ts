/** The project's agents: in files, brought along by a program, or named on the command line. */

import type { ProjectCheck } from '../agents/check-project.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { onlyChoosing, withModel } from '../agents/definition/references.ts';
import { bareExecutor } from '../agents/definition/to-definition.ts';
import type { FileSource, FileSourceOptions } from '../agents/registry/files.ts';
import type { RegisteredAgent } from '../agents/registry/registry.ts';
import { type Diagnostic, formatDiagnostic, isError } from '../agents/text/diagnostics.ts';
import type { Clock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import type { Engine } from '../engine/port.ts';
import { type ProjectConfig, serverNames, userFolder } from './config.ts';
import type { OpenOptions } from './project.ts';

/** What a program has brought along. */
interface Brought {
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly tools?: readonly { readonly name: string }[] | undefined;
}

/** The one way for what lives for long: whatever it begins, it begins with the agents as their files are now. */
export function withFilesAsTheyAre(engine: Engine, { refresh }: Pick<AgentSource, 'refresh'>): Engine {
  return {
    ...engine,
    async start(request) {
      await refresh();
      return await engine.start(request);
    },
    async fork(request) {
      await refresh();
      return await engine.fork(request);
    },
  };
}

export interface AgentSource {
  /** With what this command overrides for all agents. */
  overridden(agent: AgentDefinition | undefined): AgentDefinition | undefined;
  find(name: string): Promise<AgentDefinition | undefined>;
  /** As its file is now. */
  findNow(name: string): Promise<AgentDefinition | undefined>;
  check(): Promise<ProjectCheck>;
  /** Forgets what was read when files have changed since, those that agents take in too; says whether they have. */
  refresh(): Promise<boolean>;
  /** For the registry: the agents in files, and those a program brought along. */
  readonly registered: FileSource;
}

export function createAgentSource(
  config: ProjectConfig,
  options: OpenOptions,
  clock: Clock,
  { agents: brought = [], tools: broughtTools = [] }: Brought = {},
  /** Told of agents as they are read. */
  onRead: (agents: readonly AgentDefinition[]) => void = () => undefined,
): AgentSource {
  onRead(brought);
  const tools = broughtTools.map((tool) => tool.name);
  const given = new Map(brought.map((agent) => [agent.name, agent]));
  const { maxTurns, agentFile, model, onlyChoose } = options.flags ?? {};
  let named: Promise<AgentDefinition | undefined> | undefined;
  let checked: Promise<ProjectCheck> | undefined;

  const files = createRegistered([...config.agents.map(({ definition }) => definition).toReversed(), ...brought], {
    projectRoot: config.root,
    userConfigDir: userFolder(options.env),
    clock,
  });
  let stamp: readonly RegisteredAgent[] | undefined;
  let beside: ReadonlyMap<string, string> = new Map();

  /** A right of the settings that stands for nothing may have been meant as a ban: nobody runs until that is known. */
  const refuseSettings = (problems: readonly Diagnostic[]): void => {
    if (problems.length === 0) return;
    throw new TroupeError('config', problems.map(formatDiagnostic).join('\n'), { fix: 'Correct the settings and try again.' });
  };
  /** Without the files: which servers there are in these is not known, so that only names without one count. */
  const plainProblems = async (): Promise<readonly Diagnostic[]> => {
    const named = config.named.filter(({ name }) => !name.startsWith('mcp:') && !name.includes('__'));
    if (named.length === 0) return [];
    const { settingsProblems } = await import('../agents/check-project.ts');
    return settingsProblems(named, { servers: [], brought: tools });
  };
  const check = (): Promise<ProjectCheck> => {
    checked = readAgents(config, options, tools, onRead);
    return checked;
  };
  const fromFlag = async (): Promise<AgentDefinition | undefined> => {
    if (agentFile === undefined) return undefined;
    const { loadAgent } = await import('../agents/file/load.ts');
    const loaded = await loadAgent({ path: agentFile, root: config.root, variables: Object.keys(config.vars) });
    if (!loaded.ok) throw new TroupeError('agent', loaded.error.map(formatDiagnostic).join('\n'));
    const { checkRights } = await import('../agents/check-project.ts');
    const known = { servers: serverNames(config), brought: tools };
    const problems = checkRights(loaded.value, known, config.permissions).filter(isError);
    if (problems.length > 0) throw new TroupeError('agent', problems.map(formatDiagnostic).join('\n'));
    onRead([loaded.value.definition]);
    return loaded.value.definition;
  };
  const overridden = (agent: AgentDefinition | undefined): AgentDefinition | undefined => {
    if (agent === undefined) return undefined;
    const chosen = onlyChoose === true ? onlyChoosing(agent) : agent;
    const turns = maxTurns === undefined ? chosen : { ...chosen, maxTurns };
    return model === undefined ? turns : withModel(turns, model);
  };
  const inFiles = async (name: string): Promise<AgentDefinition | undefined> => {
    const { agents, diagnostics, settings } = await (checked ?? check());
    refuseSettings(settings);
    const found = agents.find((agent) => agent.definition.name === name && !agent.disabled)?.definition;
    // In whatever role: a file with an error does not say what its author meant.
    return diagnostics.some((one) => isError(one) && one.file === found?.source) ? undefined : found;
  };
  const refresh = async (): Promise<boolean> => {
    const [before, besideBefore] = [stamp, beside];
    stamp = await files.agents(new Map());
    beside = await takenIn(await checked?.catch(() => undefined), clock);
    if (before === stamp && agentFile === undefined && isSame(besideBefore, beside)) return false;
    checked = undefined;
    named = undefined;
    return true;
  };
  const find = async (name: string): Promise<AgentDefinition | undefined> => {
    const own = given.get(name);
    if (own !== undefined) {
      refuseSettings(await plainProblems());
      return overridden(own);
    }
    named ??= fromFlag();
    const flagged = await named;
    return overridden(flagged?.name === name ? flagged : ((await inFiles(name)) ?? bareExecutor(name)));
  };
  const findNow = async (name: string): Promise<AgentDefinition | undefined> => {
    await refresh();
    return await find(name);
  };
  return { check, overridden, refresh, registered: files, find, findNow };
}

/** The stamps of files that agents take in: what says of an agent's file that it is the same does not look into these. */
async function takenIn(read: ProjectCheck | undefined, clock: Clock): Promise<ReadonlyMap<string, string>> {
  const paths = read?.included ?? [];
  if (paths.length === 0) return new Map();
  const { stampsOf } = await import('../agents/registry/stamps.ts');
  const stamps = await stampsOf(paths, clock);
  return new Map(paths.map((path) => [path, stamps.get(path) ?? ABSENT]));
}

const ABSENT = 'absent';

/** An empty stamp says nothing: such a file may have changed. */
const isSame = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean =>
  before.size === after.size && [...after].every(([path, stamp]) => stamp !== '' && stamp === before.get(path));

async function readAgents(
  config: ProjectConfig,
  options: OpenOptions,
  brought: readonly string[],
  onRead: (agents: readonly AgentDefinition[]) => void,
): Promise<ProjectCheck> {
  // Agent files are read only where they are needed; a program may bring all its agents itself.
  const { checkProject } = await import('../agents/check-project.ts');
  const read = await checkProject({
    projectRoot: config.root,
    userConfigDir: userFolder(options.env),
    variables: Object.keys(config.vars),
    mcpServers: serverNames(config),
    permissions: config.permissions,
    ...{ named: config.named, brought, inSettings: config.agents },
  });
  onRead(read.agents.map(({ definition }) => definition));
  return read;
}

/** Loaded with the first question: most commands ask none. */
function createRegistered(beside: readonly AgentDefinition[], options: FileSourceOptions): FileSource {
  const given = new Map(beside.map((definition) => [definition.name, definition]));
  let made: Promise<FileSource> | undefined;
  const files = (): Promise<FileSource> => {
    made ??= import('../agents/registry/files.ts').then(({ createFileSource }) => createFileSource(options));
    return made;
  };
  let loaded: FileSource | undefined;
  let read: readonly RegisteredAgent[] | undefined;
  let all: readonly RegisteredAgent[] = [];
  return {
    moved: () => loaded?.moved() ?? true,
    async agents(known) {
      loaded = await files();
      const found = await loaded.agents(known);
      if (found !== read) {
        const brought = [...given.values()].map((definition) => ({ definition, origin: 'project' as const, disabled: false }));
        all = [...brought, ...found.filter(({ definition }) => !given.has(definition.name))];
        read = found;
      }
      return all;
    },
    watch(onChange) {
      let stop: (() => void) | undefined;
      let stopped = false;
      void files().then((source) => {
        if (!stopped) stop = source.watch(onChange);
      });
      return () => {
        stopped = true;
        stop?.();
      };
    },
  };
}
