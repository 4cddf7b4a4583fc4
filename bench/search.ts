/**
 * How fast agents are found: `node bench/search.ts [--agents 10000] [--queries 4000]`. Writes that many agent files into a
 * temporary project with a ledger, and measures searches, a refresh that finds nothing new, one that finds one change, and
 * what the next process pays to begin. Prints a table.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createFileSource } from '../src/agents/registry/files.ts';
import { createRegistry, type Registry } from '../src/agents/registry/registry.ts';
import { sleep, systemClock } from '../src/base/clock.ts';
import { createIds } from '../src/base/ids.ts';
import { seededRandom } from '../src/base/random.ts';
import { openSqliteLedger } from '../src/ledger/sqlite/store.ts';
import { inventAgents, inventQueries } from './search-agents.ts';
import { number, table } from './table.ts';

const SEED = 20_250_601;
const REFRESHES = 20;
const RESULTS = 10;
const AIM_MS = 5;
/** Younger files are read again, because their stamps cannot be relied on yet. */
const SETTLED_MS = 2_100;

interface Timing {
  readonly what: string;
  readonly times: readonly number[];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function repeated(what: string, times: number, work: (round: number) => Promise<unknown>): Promise<Timing> {
  const measured: number[] = [];
  for (let round = 0; round < times; round += 1) measured.push(await timed(() => work(round)));
  return { what, times: measured };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function openRegistry(root: string): Registry {
  const source = createFileSource({ projectRoot: root, clock: systemClock });
  return createRegistry({ path: join(root, 'ledger.db'), clock: systemClock, ...source });
}

async function measure(root: string, agents: number, queries: number): Promise<readonly Timing[]> {
  const random = seededRandom(SEED);
  mkdirSync(join(root, 'agents'));
  const invented = inventAgents(agents, random);
  for (const { name, text } of invented) writeFileSync(join(root, 'agents', `${name}.md`), text);
  const ledger = openSqliteLedger({ path: join(root, 'ledger.db'), clock: systemClock, ids: createIds(systemClock, random) });
  await sleep(systemClock, SETTLED_MS);

  const first = openRegistry(root);
  const build = await repeated('first use: read every file, build the index', 1, () => first.refresh());
  first.close();
  const registry = openRegistry(root);
  const begin = await repeated('next process: ready to search', 1, () => registry.refresh());
  const asked = inventQueries(queries, random);
  for (const query of asked.slice(0, queries / 10)) await registry.search(query, RESULTS);
  const search = await repeated('search', queries, (round) => registry.search(asked[round] ?? '', RESULTS));
  const unchanged = await repeated('refresh, nothing changed', REFRESHES, () => registry.refresh());
  const changed = await repeated('refresh, 1 file changed', REFRESHES, (round) => {
    const one = invented[round];
    writeFileSync(join(root, 'agents', `${one?.name}.md`), `${one?.text}More.\n`);
    return registry.refresh();
  });
  registry.close();
  await ledger.close();
  return [search, unchanged, changed, begin, build];
}

const { values } = parseArgs({
  options: { agents: { type: 'string', default: '10000' }, queries: { type: 'string', default: '4000' } },
});
const root = mkdtempSync(join(tmpdir(), 'troupe-bench-search-'));
try {
  const timings = await measure(root, Number(values.agents), Number(values.queries));
  const rows = timings.map(({ what, times }) => [
    what,
    String(times.length),
    ...[0.5, 0.95, 0.99, 1].map((share) => number(percentile(times, share))),
  ]);
  const p99 = percentile(timings[0]?.times ?? [], 0.99);
  process.stdout.write(`${table([`${values.agents} agents, ms`, 'times', 'p50', 'p95', 'p99', 'max'], rows)}\n\n`);
  process.stdout.write(`Aim: p99 of search below ${AIM_MS} ms: ${p99 < AIM_MS ? 'met' : 'MISSED'}.\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
