/**
 * Agent files for the registry. A file is read when its stamp is not the one it had when it was last read, by this process or,
 * as the index remembers it, by an earlier one; otherwise only its stamp is looked at. Of two agents of one name the nearer
 * counts, and a file with errors gives no agent, as everywhere.
 *
 * A stamp tells of the file alone: what it includes is not searched, so a change there changes nothing here.
 */
import type { Clock } from '../../base/clock.ts';
import { type DiscoverOptions, listAgentFiles } from '../discover.ts';
import { type AgentFile, loadAgent } from '../file/load.ts';
import type { KnownAgents, RegisteredAgent } from './registry.ts';
import { folderStamp, stampsOf } from './stamps.ts';
import { createFolderWatch } from './watch.ts';

export interface FileSourceOptions extends DiscoverOptions {
  readonly clock: Clock;
}

/** All fit the options of the same name of a registry. */
export interface FileSource {
  agents(known: KnownAgents): Promise<readonly RegisteredAgent[]>;
  moved(): boolean;
  watch(onChange: () => void): () => void;
}

/** A file as it was read; without an agent when it has errors. */
interface FileRead {
  readonly stamp: string;
  readonly agent: RegisteredAgent | undefined;
}

const READ_AT_ONCE = 16;

export function createFileSource(options: FileSourceOptions): FileSource {
  let reads: ReadonlyMap<string, FileRead> = new Map();
  let agents: readonly RegisteredAgent[] | undefined;
  const watching = createFolderWatch();
  let listed: ReadonlyMap<string, string> = new Map();

  return {
    watch: watching.start,
    moved: () => [...listed].some(([folder, stamp]) => stamp === '' || stamp !== folderStamp(folder, options.clock)),
    agents: async (known) => {
      const startedAt = options.clock.now();
      const { files, folders } = await listAgentFiles(options);
      // As they were before they were listed, or not at all: what came meanwhile must not go unnoticed.
      listed = new Map(folders.map((folder) => [folder, folderStamp(folder, options.clock, startedAt)]));
      watching.follow(folders);
      const stamps = await stampsOf(
        files.map((file) => file.path),
        options.clock,
      );
      const kept = new Map<string, FileRead>();
      for (const file of files) {
        const stamp = stamps.get(file.path) ?? '';
        const read = reads.get(file.path) ?? remembered(known, file);
        if (stamp !== '' && read?.stamp === stamp) kept.set(file.path, read);
      }
      const unread = files.filter((file) => !kept.has(file.path));
      const same = unread.length === 0 && kept.size === reads.size;
      if (same && agents !== undefined) return agents;
      reads = new Map([...kept, ...(await readAll(unread, stamps))]);
      agents = nearest(files, reads);
      return agents;
    },
  };
}

function remembered(known: KnownAgents, file: AgentFile): FileRead | undefined {
  const agent = known.get(file.path);
  if (agent?.file === undefined || agent.origin !== file.origin) return undefined;
  return { stamp: agent.file.stamp, agent };
}

async function readAll(files: readonly AgentFile[], stamps: ReadonlyMap<string, string>): Promise<readonly [string, FileRead][]> {
  const reads: [string, FileRead][] = [];
  for (let start = 0; start < files.length; start += READ_AT_ONCE) {
    const batch = files.slice(start, start + READ_AT_ONCE);
    reads.push(...(await Promise.all(batch.map((file) => readFile(file, stamps.get(file.path) ?? '')))));
  }
  return reads;
}

async function readFile(file: AgentFile, stamp: string): Promise<[string, FileRead]> {
  const loaded = await loadAgent(file);
  if (!loaded.ok) return [file.path, { stamp, agent: undefined }];
  const { definition, origin, disabled } = loaded.value;
  const { name, description, tags, examples } = definition;
  // The prompt is left behind: ten thousand of them would be a lot to keep.
  const agent = { definition: { name, description, tags, examples }, origin, disabled, file: { path: file.path, stamp } };
  return [file.path, { stamp, agent }];
}

/** Files are in the order of nearness. One that is switched off does not hide another. */
function nearest(files: readonly AgentFile[], reads: ReadonlyMap<string, FileRead>): readonly RegisteredAgent[] {
  const byName = new Map<string, RegisteredAgent>();
  for (const { path } of files) {
    const agent = reads.get(path)?.agent;
    if (agent === undefined || agent.disabled || byName.has(agent.definition.name)) continue;
    byName.set(agent.definition.name, agent);
  }
  return [...byName.values()];
}
