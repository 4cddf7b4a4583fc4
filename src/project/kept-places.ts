/** What Troupe keeps of a project, and the walls that keep programs out of it. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { Environment } from '../base/environment.ts';
import { present } from '../base/present.ts';
import type { Random } from '../base/random.ts';
import { sealKeyFile } from '../ledger/seals/keys.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { SandboxOptions } from '../sandbox/sandbox.ts';
import type { ProtectedPlaces } from '../tools/closed/guard.ts';
import { type ProjectConfig, userFolder } from './config.ts';
import { programPlaces } from './program-places.ts';
import { createServerFiles } from './servers/server-files.ts';

type Places = Pick<ProjectConfig, 'root' | 'home' | 'ledgerPlaces'>;

/** What agents' tools do not touch: the project's agents and settings, the user's own, and state wherever it is kept. */
export function protectedPlaces(
  { root, home, ledgerPlaces }: Places,
  env: Environment,
  { servers, agents }: Pick<ProtectedPlaces, 'servers' | 'agents'> = {},
): ProtectedPlaces {
  const places = { project: root, home, ledgers: ledgerPlaces, user: userFolder(env), keys: sealKeyFile(env) };
  return { ...places, program: programPlaces(root, import.meta.dirname), ...present({ servers, agents }) };
}

/** With what is closed because agents that were read name it, or are it: one that was named by its path lies anywhere. */
export function createPlaces(
  config: ProjectConfig,
  env: Environment,
): { readonly places: ProtectedPlaces; learn(agents: readonly AgentDefinition[]): void } {
  const servers = createServerFiles(config, env);
  const files = new Set<string>();
  return {
    places: protectedPlaces(config, env, { servers: servers.paths, agents: () => [...files] }),
    learn(agents) {
      servers.learn(agents);
      // Of an agent that no file holds the source is another word, which may be the name of a folder.
      for (const path of agents.map(({ source }) => resolve(config.root, source)))
        if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) files.add(path);
    },
  };
}

/** No program sees ledgers, keys, and what else Troupe keeps. Worktrees are there, too; whoever works in one sees that. */
export function sandboxOf(
  { sandbox: settings }: Pick<ProjectConfig, 'sandbox'>,
  environment: Environment,
  random: Random,
  { home, ledgers, keys, user }: ProtectedPlaces,
): Sandbox {
  return createLazySandbox({ settings, environment, random, state: [home, ...ledgers, keys, user] });
}

/** Loaded with the first program that enters it. */
function createLazySandbox(options: SandboxOptions): Sandbox {
  let loaded: Promise<Sandbox> | undefined;
  const load = (): Promise<Sandbox> => {
    loaded ??= import('../sandbox/sandbox.ts').then(({ createSandbox }) => createSandbox(options));
    return loaded;
  };
  return {
    state: async (mode) => (await load()).state(mode),
    enter: async (program, walls) => (await load()).enter(program, walls),
    close: async () => (await loaded)?.close(),
  };
}
