/** Deaths of a server and of the runners below it: real SIGKILL at random moments, and a look at what is left. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Random } from '../../../src/base/random.ts';
import { markedProcesses, runningProcesses, type SeenProcess } from '../process/marked-processes.ts';

export type Victim = 'parent' | 'runner' | 'both';

/** Some die when little has been written, while they take things up; the others after some work. No clock has a say in it. */
const WHILE_TAKING_UP = 0.25;
const WRITES = 6;
const WORK_STEPS = 4;
const WITHIN_STEP_MOMENTS = 30;

export interface Reaping {
  readonly server: number;
  /** In the environment of the server, and of whatever takes its environment over. */
  readonly mark: string;
  readonly random: Random;
  /** Counts what the server and those below it have done. */
  work(): number;
  /** Says something else whenever something was written to the ledger. */
  written(): string;
  /** Whether nobody is to die any more. */
  isOver(): boolean;
  onKill(victim: Victim): Promise<void>;
}

/** Kills runners now and then, until it is the server's turn. Resolves when nothing of it is left. */
export async function killUntilDead(reaping: Reaping): Promise<void> {
  const { random, isOver, onKill } = reaping;
  for (let victim: Victim = 'runner'; victim === 'runner'; ) {
    await someMoment(reaping);
    if (isOver()) return;
    victim = await kill(reaping, chosen(random));
    await onKill(victim);
  }
}

async function someMoment({ random, work, written, isOver }: Reaping): Promise<void> {
  const byWrites = random.fraction() < WHILE_TAKING_UP;
  const progress = byWrites ? createCounter(written) : work;
  const enough = progress() + Math.floor(random.fraction() * (byWrites ? WRITES : WORK_STEPS)) + 1;
  while (progress() < enough && !isOver()) await pause(2);
  for (let moment = random.fraction() * WITHIN_STEP_MOMENTS; moment > 1; moment -= 1) await pause(1);
}

/** Counts how often something has changed. */
function createCounter(look: () => string): () => number {
  let last = look();
  let changes = 0;
  return () => {
    const now = look();
    if (now !== last) changes += 1;
    last = now;
    return changes;
  };
}

function chosen(random: Random): Victim {
  const chance = random.fraction();
  if (chance < 0.4) return 'parent';
  return chance < 0.7 ? 'runner' : 'both';
}

/**
 * The server is stopped for a moment first, so that what it has started is known exactly. Gives what was killed: without a
 * runner to kill, it is the parent.
 */
async function kill({ server, random, mark }: Reaping, victim: Victim): Promise<Victim> {
  process.kill(server, 'SIGSTOP');
  const family = descendants(server);
  const runners = family.filter(isRunner);
  const runner = runners[Math.floor(random.fraction() * runners.length)];
  const struck = victim !== 'parent' && runner !== undefined && strike(runner.pid);
  if (struck && victim === 'runner') {
    process.kill(server, 'SIGCONT');
    return 'runner';
  }
  process.kill(server, 'SIGKILL');
  const left = (): readonly unknown[] => [...survivors(family), ...markedProcesses(mark)];
  await expect.poll(left, { interval: 50, message: 'what outlived its parent' }).toEqual([]);
  return struck ? 'both' : 'parent';
}

export const isRunner = ({ command }: SeenProcess): boolean => command.includes('loop-worker');

/** One may have ended by itself a moment ago. */
function strike(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** By number and command: the number of one that is gone may be somebody else's. */
function survivors(family: readonly SeenProcess[]): readonly SeenProcess[] {
  const running = runningProcesses();
  return family.filter(({ pid, command }) => running.some((one) => one.pid === pid && one.command === command));
}

function descendants(ancestor: number): readonly SeenProcess[] {
  const all = runningProcesses();
  const found: SeenProcess[] = [];
  let parents = new Set([ancestor]);
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}
