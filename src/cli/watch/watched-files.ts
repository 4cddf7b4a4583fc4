/** Which files decide what a project's agents are: its settings, its agents, what these take in, servers of other tools. */
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { filesOfAgent } from '../../agents/check-project.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import { listAgentFiles } from '../../agents/discover.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import type { Environment } from '../../base/environment.ts';
import { CONFIG_FILE, DOT_ENV, USER_FILE, userFolder } from '../../project/config.ts';
import { executorFilesOf } from '../../project/executors/executors-file.ts';
import { FOREIGN_FILES } from '../../project/servers/foreign-files.ts';

export interface WatchedFiles {
  readonly files: readonly string[];
  /** Where a change of them shows, also of those that are not there yet. */
  readonly folders: readonly string[];
}

interface Place {
  readonly root: string;
  readonly env: Environment;
}

/** `more` are files that agents take in. */
export async function everyFile({ root, env }: Place, more: readonly string[]): Promise<WatchedFiles> {
  const listed = await listAgentFiles({ projectRoot: root, userConfigDir: userFolder(env) });
  const files = [...settingsFiles({ root, env }), ...listed.files.map(({ path }) => path), ...more];
  return watched(files, listed.folders);
}

/** Only those of this agent and of all whom it may call. */
export async function filesOfOne(place: Place, agents: readonly LoadedAgent[], first: LoadedAgent): Promise<WatchedFiles> {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const reached = new Set([first]);
  for (const agent of reached)
    for (const { target } of referencesOf(agent.definition)) {
      const next = byName.get(target);
      if (next !== undefined) reached.add(next);
    }
  const { root } = place;
  const own = [...reached].flatMap((agent) => [resolve(root, agent.definition.source), ...filesOfAgent(root, agent)]);
  return watched([...settingsFiles(place), ...own], []);
}

function settingsFiles({ root, env }: Place): readonly string[] {
  const names = [CONFIG_FILE, DOT_ENV, ...FOREIGN_FILES.map(({ file }) => file)];
  return [...names.map((name) => join(root, name)), join(userFolder(env), USER_FILE), ...executorFilesOf(root, env)];
}

async function watched(files: readonly string[], folders: readonly string[]): Promise<WatchedFiles> {
  const wanted = new Set([...files.map((file) => dirname(file)), ...folders]);
  const there = await Promise.all([...wanted].map(nearestFolder));
  return { files: [...new Set(files)], folders: [...new Set(there)] };
}

/** A folder that is not there shows in the one that it will be made in. */
async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const facts = await stat(at).catch(() => undefined);
    if (facts?.isDirectory() === true || at === dirname(at)) return at;
  }
}
