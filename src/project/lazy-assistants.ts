/** Assistants and the host of their processes, loaded with the first use: most commands need neither. */

import type { Registry, RegistryOptions } from '../agents/registry/registry.ts';
import type { AssistantNeeds, ProjectAssistants } from '../assistants/clients/assistants.ts';
import type { Clock } from '../base/clock.ts';
import { present } from '../base/present.ts';
import type { AssistantLimits } from '../engine/options.ts';
import type { LoopHost } from '../runner/port.ts';
import type { Tool } from '../tools/port.ts';
import type { ProjectConfig } from './config.ts';

/** What clients outside can do, and the tools with which the project's own agents do it. */
export interface LazyAssistants extends ProjectAssistants {
  /** Starts processes ahead for whoever is going to be spawned. */
  warm(): void;
  tools(): Promise<readonly Tool[]>;
  close(): Promise<void>;
}

export interface LazyAssistantsOptions extends Omit<AssistantNeeds, 'registry'> {
  readonly registry: Omit<RegistryOptions, 'clock'>;
  warm(): void;
}

export function createLazyAssistants(options: LazyAssistantsOptions): LazyAssistants {
  let registry: Promise<Registry> | undefined;
  let opened: Promise<ProjectAssistants> | undefined;
  let tools: Promise<readonly Tool[]> | undefined;
  const open = (): Promise<ProjectAssistants> => {
    opened ??= import('../assistants/clients/assistants.ts').then(({ createAssistants }) =>
      createAssistants({ ...options, registry: registered }),
    );
    return opened;
  };
  const registered = (): Promise<Registry> => {
    registry ??= import('../agents/registry/registry.ts').then(({ createRegistry }) =>
      createRegistry({ ...options.registry, clock: options.clock }),
    );
    return registry;
  };
  return {
    list: async (caller, input) => (await open()).list(caller, input),
    search: async (caller, input) => (await open()).search(caller, input),
    spawn: async (caller, input, call) => (await open()).spawn(caller, input, call),
    poll: async (caller, input, call) => (await open()).poll(caller, input, call),
    send: async (caller, input, call) => (await open()).send(caller, input, call),
    receive: async (caller, input, call) => (await open()).receive(caller, input, call),
    cancel: async (caller, input, call) => (await open()).cancel(caller, input, call),
    answer: async (caller, input, call) => (await open()).answer(caller, input, call),
    goOn: async (run, by) => (await open()).goOn(run, by),
    warm: options.warm,
    tools() {
      tools ??= Promise.all([import('../assistants/agent-tools.ts'), open()]).then(([{ assistantTools }, assistants]) =>
        assistantTools({ assistants, clock: options.clock }),
      );
      return tools;
    },
    async close() {
      (await registry)?.close();
    },
  };
}

export function createLazyHost(clock: Clock, { memory, warm, restarts, lifetime }: ProjectConfig['assistants']): LoopHost {
  let made: Promise<LoopHost> | undefined;
  const settings = {
    ...present({ memoryMiB: memory, warm, restarts, lifetimeMs: lifetime }),
  };
  const host = (): Promise<LoopHost> => {
    made ??= import('../runner/host/host.ts').then(({ createLoopHost }) => createLoopHost({ clock, settings }));
    return made;
  };
  return {
    run: async (input, ports, hosted) => await (await host()).run(input, ports, hosted),
    warm: () => void host().then((one) => one.warm()),
    close: async () => (await made)?.close(),
  };
}

export function assistantSettings(config: ProjectConfig['assistants']): Partial<AssistantLimits> {
  const { active, perParent, waiting, perSession, depth, lifetime } = config;
  return {
    ...present({ active, perParent, waiting, perSession, depth, lifetimeMs: lifetime }),
  };
}
