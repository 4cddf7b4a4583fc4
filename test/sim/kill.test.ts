/** Real processes, a real file, real SIGKILL at random points of the work: nothing that was completed happens again. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { counterName, PROJECT_SCOPE } from '../../src/engine/spending/budget.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { moments, type ProcessEnd, runUntilKilled } from './killed-processes.ts';

const root = mkdtempSync(join(tmpdir(), 'troupe-kill-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const KILLS = Number(process.env['TROUPE_KILLS'] ?? 100);
const RUNS_PER_LIFE = 3;
/** A life gets at most so many steps far: less than the work of its runs, more than it takes to take them up again. */
const STEPS_MAX = 60;
/** Each life that gets to its last step leaves less work to the next ones. */
const LIVES_MAX = 200;

const openRead = (folder: string) =>
  openSqliteLedger({ path: join(folder, 'ledger.db'), clock: systemClock, ids: createIds(systemClock, seededRandom(3)) });

function newFolder(name: string): string {
  const folder = mkdtempSync(join(root, `${name}-`));
  writeFileSync(join(folder, 'outside.log'), '');
  return folder;
}

const linesOf = (folder: string, file = 'outside.log'): string[] =>
  readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean);

async function eventsIn(folder: string): Promise<LedgerEvent[]> {
  const ledger = openRead(folder);
  const rows = await ledger.runs({ roots: true });
  const events = (await Promise.all(rows.map((row) => readAll(ledger, row.session)))).flat();
  await ledger.close();
  return events;
}

/** Keys of calls whose outcome is in the ledger. */
const completed = (events: readonly LedgerEvent[]): Set<string> =>
  new Set(
    events.flatMap((event) =>
      event.event_type === 'model.response'
        ? [`model ${event.run_id}/${event.step}`]
        : event.event_type === 'tool.result'
          ? [`${event.payload.name} ${event.run_id}/${event.step}`]
          : [],
    ),
  );

const numberBelow = (random: Random, bound: number): number => Math.floor(random.fraction() * bound);

/** Lives and deaths until all runs of the folder have ended. */
async function livesUntilEnd(random: Random): Promise<readonly ProcessEnd[]> {
  const folder = newFolder('lives');
  const ends: ProcessEnd[] = [];
  while (ends.at(-1)?.kind !== 'ended') {
    expect(ends.length).toBeLessThan(LIVES_MAX);
    const before = ends.length === 0 ? new Set<string>() : completed(await eventsIn(folder));
    const seen = linesOf(folder).length;
    const death = { after: 1 + numberBelow(random, STEPS_MAX), further: numberBelow(random, 4) };
    ends.push(await runUntilKilled({ folder, runs: RUNS_PER_LIFE, death }));
    const repeated = linesOf(folder)
      .slice(seen)
      .filter((line) => before.has(line));
    expect(repeated, 'completed before this life and done again in it').toEqual([]);
  }
  await checkEnd(folder);
  return ends;
}

async function checkEnd(folder: string): Promise<void> {
  const acts = linesOf(folder).filter((line) => line.startsWith('act '));
  expect(new Set(acts).size, 'an effect that must not be repeated happened twice').toBe(acts.length);
  const ledger = openRead(folder);
  const rows = await ledger.runs({ roots: true });
  expect(rows.map((row) => row.state)).toEqual(Array(RUNS_PER_LIFE).fill('completed'));
  expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
  await ledger.close();
}

describe('kill -9', () => {
  it(`at random moments, ${KILLS} times: every run ends and nothing completed is repeated`, {
    timeout: LONG_TEST_MS,
  }, async () => {
    const seed = Number(process.env['TROUPE_SEED'] ?? 4711);
    const kills: string[] = [];
    const lane = async (number: number): Promise<void> => {
      const random = seededRandom(seed + number);
      while (kills.length < KILLS)
        kills.push(...(await livesUntilEnd(random)).flatMap((end) => (end.kind === 'killed' ? [end.moment] : [])));
    };
    await Promise.all([lane(0), lane(1)]);
    expect(kills.length).toBeGreaterThanOrEqual(KILLS);
    expect(new Set(kills)).toEqual(new Set(moments));
  });

  it('50 agents in 4 processes under one budget: it holds after every commit', { timeout: LONG_TEST_MS }, async () => {
    const folder = newFolder('budget');
    const runs = 13;
    const budget = { calls: 120, usd: 120 * 0.02 };
    const random = seededRandom(99);
    const ends = await Promise.all(
      [0, 1, 2, 3].map((index) => {
        // Each run begins with commits of its own, so that everybody gets so far before the budget is used up.
        const death = { after: runs + numberBelow(random, 2 * runs), further: numberBelow(random, 4) };
        return runUntilKilled({ folder, runs, firstRun: index * runs, budget, ...(index < 2 ? { death } : {}) });
      }),
    );
    expect(ends.map(({ kind }) => kind)).toEqual(['killed', 'killed', 'ended', 'ended']);
    const looks = linesOf(folder, 'looks.log').map((line): { calls: number; nanoUsd: number } => JSON.parse(line));
    expect(looks.length).toBeGreaterThan(100);
    expect(Math.max(...looks.map(({ calls }) => calls))).toBeLessThanOrEqual(budget.calls);
    expect(Math.max(...looks.map(({ nanoUsd }) => nanoUsd))).toBeLessThanOrEqual(budget.usd * 1e9);

    const ledger = openRead(folder);
    const held = await ledger.counter(counterName(PROJECT_SCOPE, 'calls'));
    await ledger.close();
    const made = linesOf(folder).filter((line) => line.startsWith('model ')).length;
    expect(made).toBeLessThanOrEqual(budget.calls);
    // What the events say is what the counter holds.
    const folded = (await eventsIn(folder)).reduce((sum, event) => {
      if (event.event_type === 'budget.reserved') return sum + event.payload.amounts.calls;
      if (event.event_type === 'budget.settled') return sum + event.payload.spent.calls - event.payload.reserved.calls;
      return sum;
    }, 0);
    expect(folded).toBe(held);
  });
});
