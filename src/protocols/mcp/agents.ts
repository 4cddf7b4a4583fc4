/** The agents of a project for the MCP server: read from their files at most once in a while, and watched for changes. */
import { watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { expandPrompt, promptValues } from '../../agents/definition/variables.ts';
import type { Clock } from '../../base/clock.ts';
import type { Project } from '../../project/project.ts';
import type { AgentCatalogue } from './needs.ts';

/** Clients ask for several lists at once: one reading serves them all. */
const KEPT_MS = 1_000;
/** Editors write a file in several steps. */
const SETTLE_MS = 200;
const WATCHED_FOLDERS = 50;

export function createAgentCatalogue(project: Project, clock: Clock, timeZone: string): AgentCatalogue {
  let read: { readonly at: number; readonly agents: Promise<readonly AgentDefinition[]> } | undefined;
  const readFiles = async (): Promise<readonly AgentDefinition[]> => {
    const { agents } = await project.agents();
    return agents
      .filter((agent) => !agent.disabled)
      .map((agent) => agent.definition)
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  };
  const list = (): Promise<readonly AgentDefinition[]> => {
    if (read === undefined || clock.elapsed() - read.at > KEPT_MS) read = { at: clock.elapsed(), agents: readFiles() };
    return read.agents;
  };
  return {
    list,
    promptOf(agent) {
      const { workspace, vars } = project.config;
      return expandPrompt(agent.prompt, promptValues(agent, { now: clock.now(), timeZone, workspace, vars }));
    },
    onChange(callback) {
      return watchAgents(project.root, list, clock, () => {
        read = undefined;
        callback();
      });
    },
  };
}

/** Watches the folders that hold agents now, and the project's own. A folder that cannot be watched is not. */
function watchAgents(root: string, list: AgentCatalogue['list'], clock: Clock, callback: () => void): () => void {
  const stop = new AbortController();
  let takeBack = (): void => undefined;
  const changed = (): void => {
    takeBack();
    takeBack = clock.after(SETTLE_MS, callback);
  };
  const begin = async (): Promise<void> => {
    const agents = await list().catch(() => []);
    const folders = new Set([join(root, 'agents'), ...agents.map((agent) => dirname(resolve(root, agent.source)))]);
    for (const folder of [...folders].slice(0, WATCHED_FOLDERS)) {
      if (stop.signal.aborted) return;
      try {
        watch(folder, { persistent: false, signal: stop.signal }, changed).on('error', () => undefined);
      } catch {
        // There is no such folder, or the system has no watches left.
      }
    }
  };
  void begin();
  return () => {
    stop.abort();
    takeBack();
  };
}
