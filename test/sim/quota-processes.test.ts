/** One account's rate limit over several real processes, a real Postgres server, and a provider that refuses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { FOR_EVER_MS } from '../support/patience.ts';
import { type ProviderLimits, type QuotaProvider, startQuotaProvider } from '../support/quota/provider.ts';

const MAIN = fileURLToPath(new URL('../support/quota/account-process.ts', import.meta.url));
const WORKERS = ['a', 'b', 'c'];

let server: PostgresServer;
let provider: QuotaProvider | undefined;
const children = new Set<ChildProcess>();
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await provider?.close();
});
afterAll(async () => await server.stop());

async function begin(rules: ProviderLimits) {
  schemas += 1;
  const schema = `quota${schemas}`;
  await server.query(`CREATE SCHEMA ${schema}`);
  const opened = await startQuotaProvider(rules);
  provider = opened;
  const start = (worker: string, calls: number, most = 1_000) => {
    const args = [MAIN, server.address(schema), opened.url, worker, String(calls), String(most)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.add(child);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    return {
      child,
      ready: () => said.startsWith('ready\n'),
      done: () => said.split('done\n').length - 1,
      ended: once(child, 'close').then(([code]) => code),
      go: () => void child.stdin.end('go\n'),
    };
  };
  /** Starts them all, and lets them begin together. */
  const startAll = async (calls: number, most?: number) => {
    const workers = WORKERS.map((name) => start(name, calls, most));
    await until(() => workers.every(({ ready }) => ready()));
    for (const { go } of workers) go();
    return workers;
  };
  const query = (sql: string) => server.query(sql.replaceAll('quota_', `${schema}.quota_`));
  return { provider: opened, start, startAll, query };
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> => expect.poll(condition).toBe(true);

it('pauses all processes when one is refused, and finds out together how many may go at once', async () => {
  const { provider, startAll, query } = await begin({ atOnce: 12, callMs: 100, retryAfterMs: 1_500, togetherFirst: 12 });
  const workers = await startAll(80);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(workers.map(({ done }) => done())).toEqual([80, 80, 80]);
  expect(provider.callsDuringPause()).toEqual([]);
  // Each pause halves what is allowed, so that 240 calls are refused at most 240 + 120 + 60 + ... times, and now and then one
  // that tries for more. With nothing learnt, twelve get through each time and all the others are refused once more.
  const refusals = provider.seen.filter(({ refused }) => refused).length;
  expect(refusals).toBeGreaterThan(0);
  expect(refusals).toBeLessThan(720);
  const [account] = await query('SELECT allowed FROM quota_account');
  expect(Number(account?.['allowed'])).toBeLessThan(60);
  expect(await query('SELECT worker FROM quota_part WHERE held > 0')).toEqual([]);
});

it('never has more under way than is allowed, over all processes, and lets each have its part', async () => {
  const { provider, startAll, query } = await begin({ callMs: 150, retryAfterMs: 500, togetherFirst: 6 });
  const workers = await startAll(60, 7);
  let held = 0;
  await until(() => workers.some(({ done }) => done() > 0));
  await until(async () => {
    const [row] = await query('SELECT coalesce(sum(held), 0)::integer AS held FROM quota_part');
    held = Math.max(held, Number(row?.['held']));
    return workers.every(({ done }) => done() >= 60);
  });
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(provider.mostInFlight()).toBeLessThanOrEqual(7);
  expect(provider.mostInFlight()).toBeGreaterThanOrEqual(6);
  expect(held).toBeLessThanOrEqual(7);
  const half = provider.seen.slice(0, 90);
  for (const name of WORKERS) expect(half.filter(({ worker }) => worker === name).length).toBeGreaterThan(15);
});

it('gives back what a killed process held, by itself', async () => {
  const { provider, start, query } = await begin({ callMs: FOR_EVER_MS, retryAfterMs: 500 });
  const dying = start('dying', 4, 4);
  dying.go();
  await until(() => provider.inFlight() === 4);
  const heir = start('heir', 4, 4);
  heir.go();
  await until(async () => (await query("SELECT 1 FROM quota_part WHERE worker = 'heir'")).length > 0);
  expect(provider.seen.filter(({ worker }) => worker === 'heir')).toEqual([]);
  dying.child.kill('SIGKILL');
  await until(() => provider.seen.filter(({ worker }) => worker === 'heir').length === 4);
  expect(heir.done()).toBe(0);
});

it('lives with a limit per second: everything gets through', async () => {
  const { provider, startAll } = await begin({ perSecond: 40, callMs: 50, retryAfterMs: 1_000 });
  const workers = await startAll(40);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(workers.map(({ done }) => done())).toEqual([40, 40, 40]);
  expect(provider.callsDuringPause()).toEqual([]);
});

it('goes on after the server was away for a while', async () => {
  const { startAll, provider } = await begin({ callMs: 50, retryAfterMs: 500 });
  const workers = await startAll(200, 6);
  await until(() => provider.seen.length > 60);
  await server.restart(500);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(provider.seen.length).toBe(600);
});
