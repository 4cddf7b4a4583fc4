/** One budget over several real processes on one Postgres ledger: at no moment is more reserved and spent than it allows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';

const MAIN = fileURLToPath(new URL('../support/quota-budget-process.ts', import.meta.url));
const said = z.object({ asked: z.number(), ends: z.array(z.string()) });
/** As the prices and the usage of the test world make it: 100 tokens in, 10 out. */
const CALL_NANO_USD = 120_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => await server.stop());

async function work(schema: string, runs: number, calls: number, usd: number) {
  const args = [MAIN, server.address(schema), String(runs), String(calls), String(usd)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, 'close');
  return said.parse(JSON.parse(output));
}

/** Reads the counters again and again until the work is over. */
async function watchCounters(
  schema: string,
  over: Promise<unknown>,
): Promise<{ readonly samples: number; readonly most: Record<string, number> }> {
  const most: Record<string, number> = {};
  let samples = 0;
  let working = true;
  void over.finally(() => {
    working = false;
  });
  while (working) {
    const rows = await server.query(`SELECT name, value::float8 AS value FROM ${schema}.counter`).catch(() => []);
    for (const { name, value } of rows) most[String(name)] = Math.max(most[String(name)] ?? 0, Number(value));
    samples += rows.length > 0 ? 1 : 0;
  }
  return { samples, most };
}

it.each([
  { what: 'calls', calls: 60, usd: 1_000, schema: 'by_calls' },
  { what: 'money', calls: 10_000, usd: 0.1, schema: 'by_money' },
])('holds a budget of $what over three processes at every moment', async ({ calls, usd, schema }) => {
  const over = Promise.all([1, 2, 3].map(() => work(schema, 8, calls, usd)));
  const { samples, most } = await watchCounters(schema, over);
  const all = await over;
  const asked = all.reduce((sum, one) => sum + one.asked, 0);
  expect(samples).toBeGreaterThan(10);
  expect(most['budget/project/calls']).toBeLessThanOrEqual(calls);
  expect(most['budget/project/nanoUsd']).toBeLessThanOrEqual(usd * 1e9);
  expect(asked).toBeLessThan(3 * 8 * 6);
  expect(asked).toBeGreaterThan(10);
  expect(all.flatMap(({ ends }) => ends).filter((end) => end !== 'completed').length).toBeGreaterThan(0);
  // What was reserved beyond what it cost has been given back.
  const [counter] = await server.query(
    `SELECT value::float8 AS value FROM ${schema}.counter WHERE name = 'budget/project/calls'`,
  );
  const [money] = await server.query(
    `SELECT value::float8 AS value FROM ${schema}.counter WHERE name = 'budget/project/nanoUsd'`,
  );
  expect(counter?.['value']).toBe(asked);
  expect(money?.['value']).toBe(asked * CALL_NANO_USD);
});
