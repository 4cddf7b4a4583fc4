/**
 * A Restate server as a child process, for trying a cluster on one machine and for tests. The binary comes from one of its
 * platform packages on npm; in production people run their own.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Clock, sleep } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { endOf } from '../base/whole-words.ts';
import { request } from './request.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface RestateServer extends ServerProcess {
  readonly ingress: string;
  readonly admin: string;
}

export interface RestateServerOptions {
  readonly binary: string;
  readonly folder: string;
  readonly clock: Clock;
  readonly ports: { readonly ingress: number; readonly admin: number; readonly node: number };
  readonly partitions?: number | undefined;
  /** Where all that it says is kept. */
  readonly log?: string | undefined;
  /** Further settings, by the names of their environment variables. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Where the binary may be: named by a variable, or in a package below one of these folders. */
export function findRestateBinary(env: Environment, folders: readonly string[]): string {
  const named = env['TROUPE_RESTATE_SERVER'];
  if (named !== undefined && named !== '') return named;
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  for (const folder of folders) {
    const binary = join(folder, 'node_modules', name, 'bin', 'restate-server');
    if (existsSync(binary)) return binary;
  }
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
  } catch {
    throw new TroupeError('no_restate', 'There is no Restate server on this machine.', {
      fix: `Install it beside Troupe (npm install ${name}), or name its binary with TROUPE_RESTATE_SERVER.`,
    });
  }
}

export async function startRestate(options: RestateServerOptions): Promise<RestateServer> {
  const { binary, folder, clock, ports, partitions = 4 } = options;
  mkdirSync(folder, { recursive: true });
  const process = startServerProcess({
    program: binary,
    args: [],
    folder,
    clock,
    log: options.log,
    environment: {
      DO_NOT_TRACK: '1',
      RESTATE_BASE_DIR: join(folder, 'data'),
      RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions),
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128MB',
      RESTATE_LOG_FILTER: 'warn',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      ...options.settings,
    },
  });
  const server: RestateServer = {
    ...process,
    ingress: `http://127.0.0.1:${ports.ingress}`,
    admin: `http://127.0.0.1:${ports.admin}`,
  };
  await untilReady(server, clock);
  return server;
}

async function untilReady(server: RestateServer, clock: Clock): Promise<void> {
  for (let attempt = 0; attempt < limits.serverStartAttempts; attempt += 1) {
    if (!server.alive()) break;
    if ((await answers(`${server.admin}/health`)) && (await answers(`${server.ingress}/restate/health`))) return;
    await sleep(clock, limits.serverStartMs);
  }
  server.kill('SIGKILL');
  throw new TroupeError('restate_start', `The Restate server did not start. It said: ${endOf(server.said(), 500)}`, {
    fix: 'See that nobody else listens on its ports, another cluster for one.',
  });
}

async function answers(url: string): Promise<boolean> {
  const answered = await request(url, undefined, limits.serverStartMs * 10);
  return answered.kind === 'answered' && answered.ok;
}
