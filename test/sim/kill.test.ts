/** Real processes, a real file, real SIGKILL at random moments: nothing that was completed happens again. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { counterName, PROJECT_SCOPE } from '../../src/engine/budget.ts';
import { readAll } from '../../src/engine/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'troupe-kill-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const KILLS = 100;
const RUNS_PER_LIFE = 3;

const openRead = (folder: string) =>
  openSqliteLedger({ path: join(folder, 'ledger.db'), clock: systemClock, ids: createIds(systemClock, seededRandom(3)) });

function newFolder(name: string): string {
  const folder = mkdtempSync(join(root, `${name}-`));
  writeFileSync(join(folder, 'outside.log'), '');
  return folder;
}

/** Runs one life; kills it `killAfterMs` after it is ready, unless it ends before. */
function live(folder: string, args: readonly string[], killAfterMs: number | undefined): Promise<'killed' | 'ended'> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'life-main.ts'), folder, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    child.stdout.once('data', () => {
      if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    });
    child.on('exit', (code, signal) => {
      if (signal === 'SIGKILL') resolve('killed');
      else if (code === 0) resolve('ended');
      else reject(new Error(`the process failed with ${code}: ${complaint}`));
    });
  });
}

const linesOf = (folder: string): string[] => readFileSync(join(folder, 'outside.log'), 'utf8').split('\n').filter(Boolean);

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

/** Lives and deaths until all runs of the folder have ended. Gives the number of kills. */
async function livesUntilEnd(random: Random): Promise<number> {
  const folder = newFolder('lives');
  let kills = 0;
  for (let life = 0; life < 200; life += 1) {
    const before = life === 0 ? new Set<string>() : completed(await eventsIn(folder));
    const seen = linesOf(folder).length;
    const outcome = await live(folder, [String(RUNS_PER_LIFE), '0'], 5 + random.fraction() * 60);
    const repeated = linesOf(folder)
      .slice(seen)
      .filter((line) => before.has(line));
    expect(repeated, 'completed before this life and done again in it').toEqual([]);
    if (outcome === 'ended') break;
    kills += 1;
  }
  await checkEnd(folder);
  return kills;
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
  it(`at random moments, ${KILLS} times: every run ends and nothing completed is repeated`, async () => {
    const random = seededRandom(Number(process.env['TROUPE_SEED'] ?? 4711));
    let kills = 0;
    while (kills < KILLS)
      kills += (await Promise.all([livesUntilEnd(random), livesUntilEnd(random)])).reduce((sum, count) => sum + count, 0);
    expect(kills).toBeGreaterThanOrEqual(KILLS);
  });

  it('50 agents in 4 processes under one budget: it holds at every moment', async () => {
    const folder = newFolder('budget');
    const cap = 120;
    const random = seededRandom(99);
    const processes = [0, 1, 2, 3].map((index) =>
      live(folder, ['13', String(index * 13), String(cap)], index < 2 ? 150 + random.fraction() * 200 : undefined),
    );
    const done = Promise.all(processes);
    let open = true;
    void done.finally(() => {
      open = false;
    });
    let samples = 0;
    const ledger = openRead(folder);
    const calls = counterName(PROJECT_SCOPE, 'calls');
    const dollars = counterName(PROJECT_SCOPE, 'nanoUsd');
    while (open) {
      expect(await ledger.counter(calls)).toBeLessThanOrEqual(cap);
      expect(await ledger.counter(dollars)).toBeLessThanOrEqual(cap * 0.02 * 1e9);
      samples += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(await done).toContain('killed');
    expect(samples).toBeGreaterThan(20);
    const held = await ledger.counter(calls);
    await ledger.close();

    const made = linesOf(folder).filter((line) => line.startsWith('model ')).length;
    expect(made).toBeLessThanOrEqual(cap);
    // What the events say is what the counter holds.
    const folded = (await eventsIn(folder)).reduce((sum, event) => {
      if (event.event_type === 'budget.reserved') return sum + event.payload.amounts.calls;
      if (event.event_type === 'budget.settled') return sum + event.payload.spent.calls - event.payload.reserved.calls;
      return sum;
    }, 0);
    expect(folded).toBe(held);
  });
});
