/** One budget over several real processes on one Postgres ledger: at no moment is more reserved and spent than it allows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { testIds } from '../support/ledger/sqlite-folder.ts';

const MAIN = fileURLToPath(new URL('../support/quota/budget-process.ts', import.meta.url));
const said = z.object({ asked: z.number(), ends: z.array(z.string()) });
/** As the prices and the usage of the test world make it: 100 tokens in, 10 out. */
const CALL_NANO_USD = 120_000;
/** Of each process. */
const RUNS = 8;

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

/** Has the server note every value that a counter is ever given. */
async function watchCounters(schema: string): Promise<void> {
  await (await openPostgresLedger({ url: server.address(schema), clock: systemClock, ids: testIds })).close();
  await server.query(`CREATE TABLE ${schema}.seen (name text, value numeric)`);
  await server.query(`CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO ${schema}.seen VALUES (NEW.name, NEW.value); RETURN NEW; END $$`);
  await server.query(`CREATE TRIGGER noted AFTER INSERT OR UPDATE ON ${schema}.counter
    FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`);
}

async function valuesOf(schema: string, name: string): Promise<readonly number[]> {
  const rows = await server.query(`SELECT value::float8 AS value FROM ${schema}.seen WHERE name = $1`, [name]);
  return rows.map(({ value }) => Number(value));
}

it.each([
  { what: 'calls', calls: 60, usd: 1_000, schema: 'by_calls' },
  { what: 'money', calls: 10_000, usd: 0.1, schema: 'by_money' },
])('holds a budget of $what over three processes at every moment', async ({ calls, usd, schema }) => {
  await watchCounters(schema);
  const all = await Promise.all([1, 2, 3].map(() => work(schema, RUNS, calls, usd)));
  const asked = all.reduce((sum, one) => sum + one.asked, 0);
  const [ofCalls, ofMoney] = [await valuesOf(schema, 'budget/project/calls'), await valuesOf(schema, 'budget/project/nanoUsd')];
  // Each call was reserved, at most one of every run in one commit.
  expect(ofCalls.length).toBeGreaterThanOrEqual(asked / RUNS);
  expect(ofMoney.length).toBeGreaterThanOrEqual(asked / RUNS);
  expect(Math.max(...ofCalls)).toBeLessThanOrEqual(calls);
  expect(Math.max(...ofMoney)).toBeLessThanOrEqual(usd * 1e9);
  expect(asked).toBeLessThan(3 * RUNS * 6);
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
