/** Coding agents that work for agents. What it takes to start one is loaded with the first. */
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { EngineOptions } from '../../engine/options.ts';
import type { ExecutorKeeping } from '../../executors/kept-in.ts';
import type { ExecutorOptions } from '../../executors/open.ts';
import type { ExecutorMcpServer, Executors } from '../../executors/port.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import type { ProtectedPlaces } from '../../tools/closed/guard.ts';
import { expandVariables, minimalEnvironment } from '../../tools/shell/environment.ts';
import { worktreeOf } from '../../tools/shell/walls.ts';
import type { ProjectConfig } from '../config.ts';
import { secretsInSettings } from '../declared-secrets.ts';
import { protectedPlaces, sandboxOf } from '../kept-places.ts';
import { peerEnvironment } from '../lazy-peers.ts';
import type { DeclaredServers } from '../servers/declared-servers.ts';

export interface LazyExecutorNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Environment;
  readonly places: ProtectedPlaces | undefined;
  /** What they are kept in. */
  readonly sandbox: Sandbox;
  /** As long as one lives. */
  readonly watching?: ExecutorOptions['watching'] | undefined;
  redact(text: string): string;
}

type Config = Pick<ProjectConfig, 'root' | 'home' | 'ledgerPlaces' | 'keyEnv' | 'dotEnv' | 'providers' | 'mcp' | 'sandbox'>;

export interface LazyExecutors extends Required<Pick<EngineOptions, 'executorMemory' | 'executorServers'>> {
  readonly executors: Executors;
}

export function createLazyExecutors(
  config: Config,
  declared: Pick<DeclaredServers, 'refusal'>,
  needs: LazyExecutorNeeds,
): LazyExecutors {
  let made: Promise<Executors> | undefined;
  const executors = (): Promise<Executors> => {
    made ??= (async () => {
      const { createExecutors } = await import('../../executors/open.ts');
      return createExecutors(await executorOptions(config, needs));
    })();
    return made;
  };
  return {
    executors: {
      entries: async () => (await executors()).entries(),
      missing: async (name, folder) => (await executors()).missing(name, folder),
      open: async (asked, signal) => (await executors()).open(asked, signal),
      drop: async (key) => (await made)?.drop(key),
      close: async () => (await made)?.close(),
    },
    executorMemory: async (pid) => (await import('../../executors/memory.ts')).memoryBelow(pid),
    executorServers: (agent) => serversFor(agent, declared, needs.env),
  };
}

export interface ExecutorsOfProject {
  readonly root: string;
  readonly options: ExecutorOptions;
  readonly keeping: ExecutorKeeping;
  close(): Promise<void>;
}

/** For whoever looks at executors without a run, and closes it. */
export async function executorsOfProject(config: Config, env: Environment, clock: Clock): Promise<ExecutorsOfProject> {
  const { createRedactor, secretsOf } = await import('../../base/secrets/redact.ts');
  const secrets = secretsOf(peerEnvironment(config), secretsInSettings(config));
  const places = protectedPlaces(config, env);
  const sandbox = sandboxOf(config, env, systemRandom, places);
  const needs = { clock, random: systemRandom, env, places, sandbox, redact: createRedactor(secrets).text };
  const { keeping, ...options } = await executorOptions(config, needs);
  return { root: config.root, options: { ...options, keeping }, keeping, close: sandbox.close };
}

/** Those that can be named, also where an entry has problems of its own; `undefined` where a file cannot be read at all. */
export async function executorNames({ root }: Pick<Config, 'root'>, env: Environment): Promise<readonly string[] | undefined> {
  const { knownExecutors } = await import('../../executors/known/entries.ts');
  const { readExecutorFiles } = await import('./executors-file.ts');
  const files = await readExecutorFiles(root, env);
  if (files.some(({ unreadable }) => unreadable)) return undefined;
  const own = files.flatMap(({ layer }) => Object.keys(layer.fields));
  return [...new Set(['builtin', ...Object.keys(knownExecutors), ...own])];
}

/** What the executors of a project are made from. */
async function executorOptions(
  config: Config,
  needs: LazyExecutorNeeds,
): Promise<ExecutorOptions & { readonly keeping: ExecutorKeeping }> {
  const { clock, random, env, places, sandbox, redact } = needs;
  const { createGuard } = await import('../../tools/closed/guard.ts');
  const { closedFiles } = await import('../../tools/closed/closed-files.ts');
  const { executorsText, readExecutorLayers } = await import('./executors-file.ts');
  const { builtinExecutor } = await import('../../executors/known/entries.ts');
  const builtin = {
    program: ownProgram(),
    args: ['--settings', config.root, '--home', join(config.home, 'executor')],
    keys: secretsInSettings(config),
  };
  return {
    ...{ clock, random, redact, guard: createGuard(places), environment: peerEnvironment(config), builtin },
    ...present({ watching: needs.watching }),
    closed: async (folder) => (places === undefined ? new Map() : await closedFiles(places, repositoriesOf(folder))),
    keeping: { sandbox, settings: config.sandbox, places, builtin: builtinExecutor(builtin).command ?? [] },
    async layers() {
      const read = await readExecutorLayers(config.root, env);
      return read.ok ? read : fail(executorsText(read.error));
    },
  };
}

/** The one that a worktree belongs to, where what is changed holds in all of them; and the git folder of a place's own. */
function repositoriesOf(folder: string): readonly string[] {
  const worktree = worktreeOf(folder);
  if (worktree === undefined) return [];
  return worktree.own === undefined ? [worktree.common, worktree.link] : [worktree.common];
}

/** This command line, from its sources or as it was built. */
const ownProgram = (): readonly string[] => [
  process.execPath,
  fileURLToPath(new URL(`../../cli/main${extname(import.meta.url)}`, import.meta.url)),
];

/** The servers of the agent's own file: its executor starts them, so each must be one that may be started. */
async function serversFor(
  agent: AgentDefinition,
  declared: Pick<DeclaredServers, 'refusal'>,
  env: Environment,
): Promise<Result<readonly ExecutorMcpServer[], string>> {
  const own = Object.entries(agent.mcp ?? {});
  if (own.length === 0) return ok([]);
  const refusal = await declared.refusal({ ...agent, tools: own.map(([name]) => `mcp:${name}`) });
  if (refusal !== undefined) return fail(refusal);
  // A stranger's file gets no secrets filled in.
  const known = minimalEnvironment(env);
  const filled = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, expandVariables(text, known).text]));
  return ok(
    own.map(([name, server]): ExecutorMcpServer => {
      if ('url' in server) return { kind: 'http', name, url: server.url, headers: filled(server.headers) };
      return { kind: 'stdio', name, command: server.command, args: server.args ?? [], env: filled(server.env) };
    }),
  );
}
