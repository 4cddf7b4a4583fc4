/**
 * The servers that a person has allowed. Kept in the user's own folder, one file for each, named by the checksum of what was
 * allowed: not in the project, which may be a stranger's. Each file says who allowed what, when and where.
 */
import { createHash } from 'node:crypto';
import { mkdir, opendir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import { userFolder } from '../config.ts';
import { namedFilesKey } from './named-files.ts';

/** A server that waits for a word of the owner, or an agent that lives elsewhere and is to be shown who calls. */
export interface OpenServer {
  readonly kind?: 'peer' | undefined;
  /** Whose file declares it; without one it is a file of another tool. */
  readonly agent?: string | undefined;
  /** The file. */
  readonly source: string;
  readonly server: string;
  /** The command line or the address and what it is given, for a person to judge. */
  readonly shown: string;
  /** It is the owner's own, and these of its files changed while a run was at work. */
  readonly changed?: readonly string[] | undefined;
  /** Known by this when it was allowed. */
  readonly key: string;
}

/** Who allowed it and how. */
export interface Approval {
  readonly by: string;
  readonly host: string;
  readonly through: 'terminal' | 'flag' | 'acp';
  readonly time: string;
}

export interface AllowedServers {
  has(key: string): Promise<boolean>;
  add(server: OpenServer, approval: Approval): Promise<Result<void, string>>;
  /** Everything that was allowed under this name for other tools' files of this project; how many that were. */
  forget(server: string): Promise<number>;
}

export function createAllowedServers(root: string, env: Environment): AllowedServers {
  const folder = join(userFolder(env), 'allowed-servers');
  const fileOf = (key: string): string => join(folder, `${key}.json`);
  return {
    has: async (key) => (await stat(fileOf(key)).catch(() => undefined)) !== undefined,
    async add({ key, ...said }, approval) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const record = { project: root, ...said, sha256: key, ...approval };
        await writeFile(fileOf(key), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
        return ok(undefined);
      } catch (error) {
        return fail(messageOf(error));
      }
    },
    async forget(server) {
      let count = 0;
      for (const path of await filesIn(folder)) {
        const parsed = parseJson(await readFile(path, 'utf8').catch(() => ''));
        if (!parsed.ok || !isJsonObject(parsed.value)) continue;
        const { project, agent, server: named } = parsed.value;
        if (project !== root || agent !== undefined || named !== server) continue;
        await rm(path, { force: true });
        count += 1;
      }
      return count;
    },
  };
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) if (paths.push(join(folder, name)) >= limits.allowedServers) break;
  } catch {
    // Nothing was ever allowed.
  }
  return paths;
}

/** The checksum of what would be started; a program or script inside the project that it names is a part of it. */
export async function keyOf(
  root: string,
  server: string,
  config: McpServerConfig,
  kind?: 'foreign' | 'settings',
): Promise<string> {
  const named = [root, server, sorted(config), ...(kind === undefined ? [] : [kind])];
  const hash = createHash('sha256').update(JSON.stringify(named));
  if ('command' in config) hash.update(await namedFilesKey(root, resolve(root, config.cwd ?? '.'), config));
  return hash.digest('hex');
}

function sorted(config: McpServerConfig): unknown {
  return Object.entries(config)
    .filter(([, value]) => value !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
