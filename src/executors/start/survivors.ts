/**
 * Processes that an executor started and that left its group, where a signal to the group does not reach them. On Linux they
 * are known by a mark in their environment, which whoever is started inherits. One that cleared its environment is not
 * known for sure: if nobody is its parent any more and it works in the executor's folder it is named, and left alone.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { atMost } from '../../base/at-most.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';

export const MARK_VARIABLE = 'TROUPE_EXECUTOR_MARK';

interface FoundProcess {
  readonly pid: number;
  readonly command: string;
  readonly sure: boolean;
}

export interface Traces {
  readonly mark: string;
  /** Where it worked, real. */
  readonly folder: string;
  /** Its own process: what is younger may be its. */
  readonly pid: number;
  /** When it was started, as the system counts; undefined where it does not say. */
  readonly since: number | undefined;
  /** Inside walls, where nothing outlives the first process: what is still seen is about to go. */
  readonly walled: boolean;
}

/** Names those that are left, after ending them. */
export async function endSurvivors(traces: Traces, clock: Clock): Promise<readonly string[]> {
  let found = await survivorsOf(traces);
  const patience = clock.elapsed() + limits.stopGraceMs;
  while (traces.walled && found.length > 0 && clock.elapsed() < patience) {
    await sleep(clock, 20);
    found = await survivorsOf(traces);
  }
  const sure = found.filter((one) => one.sure);
  for (const { pid } of sure) signal(pid, 'SIGTERM');
  if (sure.length > 0) {
    const until = clock.elapsed() + limits.stopGraceMs;
    while (clock.elapsed() < until && sure.some(({ pid }) => signal(pid, 0))) await sleep(clock, 20);
    // What it started meanwhile bears the mark too.
    for (const { pid } of (await survivorsOf(traces)).filter((one) => one.sure)) signal(pid, 'SIGKILL');
  }
  return found.map(({ pid, command, sure: ended }) => `${pid} ${command}${ended ? '' : ' (perhaps its own; left alone)'}`);
}

const COMMAND_CHARACTERS = 200;
const AT_ONCE = 16;

async function survivorsOf(traces: Traces): Promise<readonly FoundProcess[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: FoundProcess[] = [];
  const look = async (pid: number): Promise<void> => {
    const sure = (await textOf(pid, 'environ')).includes(`${MARK_VARIABLE}=${traces.mark}\0`);
    if (pid === process.pid || !(sure || (await isPerhaps(pid, traces)))) return;
    const command = (await textOf(pid, 'cmdline')).replaceAll('\0', ' ').trim().slice(0, COMMAND_CHARACTERS);
    // One that has ended and is not collected yet has no command any more.
    if (command !== '') found.push({ pid, command, sure });
  };
  const places = atMost(AT_ONCE);
  await Promise.all(pids.map((pid) => places(() => look(pid))));
  return found.sort((left, right) => left.pid - right.pid);
}

/** An orphan, younger than the executor, in its folder. */
async function isPerhaps(pid: number, { folder, since, pid: own }: Traces): Promise<boolean> {
  const stat = statOf(await textOf(pid, 'stat'));
  if (stat === undefined || since === undefined || stat.parent !== 1 || stat.since < since || pid === own) return false;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '/');
  const inside = relative(folder, cwd);
  return inside !== '..' && !inside.startsWith(`..${sep}`);
}

/** When a process was started, in the ticks of the system. */
export async function startedAt(pid: number): Promise<number | undefined> {
  return statOf(await textOf(pid, 'stat'))?.since;
}

/** The name, which may hold anything, is in brackets; parent and start are the 2nd and 20th word behind it. */
function statOf(text: string): { readonly parent: number; readonly since: number } | undefined {
  const words = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, since] = [Number(words[1]), Number(words[19])];
  return words.length < 20 ? undefined : { parent, since };
}

/** Empty for a process that is gone, for those of others, and where there is no such folder. */
const textOf = (pid: number, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

function signal(pid: number, what: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, what);
  } catch {
    return false;
  }
}
