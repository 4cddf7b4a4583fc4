/**
 * An architect with two executors at work at once, each a process of its own, and `kill -9` strikes the architect's process, the
 * executors or all of them after so many commits. Whoever was struck is started again. In the end every file is in the patch,
 * every effect of an executor has happened once, and nobody of them is left.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { type Random, seededRandom, systemRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { EventOf, LedgerEvent } from '../../src/events/envelope.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import { newTaskFolder, TASK_SESSION, type TaskPlan } from '../support/executors/task-world.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { programOf } from '../support/programs/programs.ts';

const MAIN = await programOf(join(import.meta.dirname, '../support/executors/task-life-main.ts'));
const KILLS = Number(process.env['TROUPE_KILLS'] ?? 4);
/** A life from its beginning to its end has about so many commits. */
const MOST_COMMITS = 30;
/** One that ends in the middle is started again this often; then its task has failed. */
const EXECUTOR_KILLS = 2;
const victims = ['architect', 'executors', 'all'] as const;
type Victim = (typeof victims)[number];

const NAMES = ['one', 'two'] as const;
const OTHER = { one: 'two', two: 'one' } as const;
const DEEDS = [1, 2, 3, 4];
const HALF = 2;
const fileOf = (name: string, deed: number): string => `src/${name}/${name}-${deed}.js`;
const checkOf = (name: string): string =>
  DEEDS.map((deed) => `require('./${fileOf(name, deed)}').name === '${name}-${deed}' || process.exit(1);\n`).join('');

const plan: TaskPlan = {
  files: { 'check-one.js': checkOf('one'), 'check-two.js': checkOf('two'), 'package.json': '{}\n' },
  tasks: NAMES.map((name) => ({
    goal: name,
    include: [`src/${name}/`],
    acceptance: [`\`node check-${name}.js\` passes`],
    plays: [
      'pid-to @/pids',
      // Neither goes on before both are at work.
      `touch @/at-${name}`,
      `until @/at-${OTHER[name]}`,
      // In the middle of its work it stands until it is let through, so that it can be struck there.
      ...DEEDS.flatMap((deed) => [
        ...(deed === HALF + 1 ? ['until @/through'] : []),
        `do @/effects ${name}-${deed} ${fileOf(name, deed)}`,
      ]),
      'say done',
    ],
  })),
};

const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const linesOf = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);
const executorsIn = (folder: string): number[] => linesOf(join(folder, 'pids')).map(Number).filter(isAlive);

/** All that work somewhere in the folder. */
function livingIn(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || !isAlive(Number(name))) return [];
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(folder) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

interface Kills {
  done: number;
  executors: number;
}

function strike(child: { kill(signal: 'SIGKILL'): boolean }, folder: string, victim: Victim): number {
  const pids = victim === 'architect' ? [] : executorsIn(folder);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  if (victim !== 'executors') child.kill('SIGKILL');
  return pids.length;
}

/** One life: struck after so many commits or in the middle of the work, if it gets there. Gives whether it came to its end. */
async function live(folder: string, random: Random, kills: Kills, most: number, inTheMiddle: boolean): Promise<boolean> {
  const after = 1 + Math.floor(random.fraction() * MOST_COMMITS);
  const mayEnd = kills.executors < most;
  const victim: Victim = mayEnd ? (victims[Math.floor(random.fraction() * victims.length)] ?? 'all') : 'architect';
  const child = spawn(process.execPath, [MAIN, folder, JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [commits, complaint, isStruck] = [0, '', false];
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    commits += chunk.length;
    const isHalfway = linesOf(join(folder, 'effects')).length === HALF * NAMES.length;
    const isTime = inTheMiddle ? isHalfway : commits >= after;
    if (isHalfway && (!inTheMiddle || isStruck || kills.done >= KILLS)) writeFileSync(join(folder, 'through'), '');
    if (isStruck || !isTime || kills.done >= KILLS) return;
    // Executors can be struck when they are there; the architect always.
    if (victim === 'executors' && executorsIn(folder).length === 0) return;
    isStruck = true;
    kills.done += 1;
    if (strike(child, folder, victim) > 0) kills.executors += 1;
    if (isHalfway) writeFileSync(join(folder, 'through'), '');
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...how) => resolve(how));
  });
  if (signal === null && code !== 0 && code !== 5) throw new Error(`a life ended with ${code}: ${complaint}`);
  return code === 0;
}

async function eventsIn(folder: string): Promise<readonly LedgerEvent[]> {
  const ids = createIds(systemClock, systemRandom);
  const ledger = openSqliteLedger({ path: join(folder, 'ledger.db'), clock: systemClock, ids, readOnly: true });
  try {
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    return await readAll(ledger, TASK_SESSION);
  } finally {
    await ledger.close();
  }
}

const ofType = <Type extends LedgerEvent['event_type']>(events: readonly LedgerEvent[], type: Type) =>
  events.flatMap((event) => (event.event_type === type ? [(event as EventOf<Type>).payload as EventOf<Type>['payload']] : []));

async function checkStory(folder: string): Promise<void> {
  const events = await eventsIn(folder);
  const all = NAMES.flatMap((name) => DEEDS.map((deed) => fileOf(name, deed))).toSorted();
  expect(ofType(events, 'run.ended').at(-1)).toMatchObject({ status: 'completed', verification: { state: 'verified' } });
  // No lost patch: what was written is in the patches, in the merged one, and recorded as changes.
  const captured = ofType(events, 'task.captured').flatMap(({ files }) => files.map(({ path }) => path));
  expect(captured.toSorted()).toEqual(all);
  expect(ofType(events, 'task.merged')).toMatchObject([{ files: all.length, conflicts: [] }]);
  expect([...new Set(ofType(events, 'file.diff').map(({ path }) => path))].toSorted()).toEqual(all);
  // No doubled command: each effect once, whoever made it.
  const effects = linesOf(join(folder, 'effects')).map((line) => line.split(' ')[0]);
  expect(effects.toSorted()).toEqual(NAMES.flatMap((name) => DEEDS.map((deed) => `${name}-${deed}`)).toSorted());
  // No orphan.
  await expect.poll(() => livingIn(folder)).toEqual([]);
}

it(`kill -9 of the architect, of its two executors and of all, ${KILLS} times: nothing is lost, done twice or left behind`, {
  timeout: LONG_TEST_MS,
}, async () => {
  const random = seededRandom(Number(process.env['TROUPE_SEED'] ?? 20_261_117));
  const kills: Kills = { done: 0, executors: 0 };
  let stories = 0;
  while (kills.done < KILLS) {
    const folder = newTaskFolder(plan);
    const most = kills.executors + EXECUTOR_KILLS;
    try {
      // The first life of every other story is struck when each executor has done half of its work.
      let ended = await live(folder, random, kills, most, stories % 2 === 0);
      while (!ended) ended = await live(folder, random, kills, most, false);
      await checkStory(folder);
    } finally {
      for (const pid of livingIn(folder)) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
    stories += 1;
  }
  expect(kills.executors).toBeGreaterThan(0);
  if (process.env['TROUPE_KILLS'] !== undefined) process.stderr.write(`${JSON.stringify({ ...kills, stories })}\n`);
});
