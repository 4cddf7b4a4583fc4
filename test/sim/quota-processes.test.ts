/** One account's rate limit over several real processes, a real Postgres server, and a provider that refuses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { type ProviderLimits, type QuotaProvider, startQuotaProvider } from '../support/quota-provider.ts';

const MAIN = fileURLToPath(new URL('../support/quota-process.ts', import.meta.url));
/** How late news of a refusal may be on a busy machine; without news a worker would find out with its next claim. */
const NEWS_MS = limits.quotaRenewMs / 2;
/** A pause that becomes longer by less than this is not told to the others at once. */
const END_MS = 60;
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
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    let done = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      done += chunk.toString().split('\n').length - 1;
    });
    return { child, done: () => done, ended: once(child, 'close').then(([code]) => code) };
  };
  const query = (sql: string) => server.query(sql.replaceAll('quota_', `${schema}.quota_`));
  return { provider: opened, start, query };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

it('pauses all processes when one is refused, and finds out together how many may go at once', async () => {
  const { provider, start, query } = await begin({ atOnce: 12, callMs: 100, retryAfterMs: 1_500 });
  const workers = WORKERS.map((name) => start(name, 80));
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(workers.map(({ done }) => done())).toEqual([80, 80, 80]);
  expect(provider.lateCalls(NEWS_MS, END_MS)).toBe(0);
  const first = provider.seen.find(({ refused }) => refused)?.at ?? 0;
  const atFirst = provider.seen.filter(({ at, refused }) => refused && at < first + NEWS_MS).length;
  const later = provider.seen.filter(({ at, refused }) => refused && at > first + 3_000).length;
  expect(atFirst).toBeGreaterThan(50);
  expect(later).toBeLessThan(atFirst);
  const [account] = await query('SELECT allowed FROM quota_account');
  expect(Number(account?.['allowed'])).toBeLessThan(60);
  expect(await query('SELECT worker FROM quota_part WHERE held > 0')).toEqual([]);
});

it('never has more under way than is allowed, over all processes, and lets each have its part', async () => {
  const { provider, start, query } = await begin({ callMs: 150, retryAfterMs: 500 });
  const workers = WORKERS.map((name) => start(name, 60, 7));
  let most = 0;
  let held = 0;
  const watching = setInterval(() => {
    most = Math.max(most, provider.inFlight());
  }, 5);
  await until(() => workers.some(({ done }) => done() > 0));
  await until(async () => {
    const [row] = await query('SELECT coalesce(sum(held), 0)::integer AS held FROM quota_part');
    held = Math.max(held, Number(row?.['held']));
    return workers.every(({ done }) => done() >= 60);
  });
  clearInterval(watching);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(most).toBeLessThanOrEqual(7);
  expect(most).toBeGreaterThanOrEqual(6);
  expect(held).toBeLessThanOrEqual(7);
  const half = provider.seen.slice(0, 90);
  for (const name of WORKERS) expect(half.filter(({ worker }) => worker === name).length).toBeGreaterThan(15);
});

it('gives back what a killed process held, by itself', async () => {
  const { provider, start, query } = await begin({ callMs: 60_000, retryAfterMs: 500 });
  const dying = start('dying', 4, 4);
  await until(() => provider.inFlight() === 4);
  const heir = start('heir', 4, 4);
  await until(async () => (await query("SELECT 1 FROM quota_part WHERE worker = 'heir'")).length > 0);
  expect(provider.seen.filter(({ worker }) => worker === 'heir')).toEqual([]);
  const killedAt = performance.now();
  dying.child.kill('SIGKILL');
  await until(() => provider.seen.filter(({ worker }) => worker === 'heir').length === 4);
  expect(performance.now() - killedAt).toBeLessThan(limits.quotaLeaseMs + 2_000);
  expect(heir.done()).toBe(0);
});

it('lives with a limit per second: everything gets through', async () => {
  const { provider, start } = await begin({ perSecond: 40, callMs: 50, retryAfterMs: 1_000 });
  const workers = WORKERS.map((name) => start(name, 40));
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(workers.map(({ done }) => done())).toEqual([40, 40, 40]);
  expect(provider.lateCalls(NEWS_MS, END_MS)).toBe(0);
});

it('goes on after the server was away for a while', async () => {
  const { start, provider } = await begin({ callMs: 50, retryAfterMs: 500 });
  const workers = WORKERS.map((name) => start(name, 200, 6));
  await until(() => provider.seen.length > 60);
  await server.restart(500);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(provider.seen.length).toBe(600);
});
