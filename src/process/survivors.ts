/**
 * Processes that a child of ours started and that left its group, where a signal to the group does not reach them. On Linux they
 * are known by a mark in their environment, which whoever is started inherits. One that cleared its environment is not
 * known for sure: if nobody is its parent any more and it works in the child's folder it is named, and left alone.
 */
import { readlink } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { type Clock, sleep } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { bearsMark, ofProcesses, processNumbers, processText, seenProcess } from './processes.ts';

interface FoundProcess {
  readonly pid: number;
  readonly command: string;
  readonly sure: boolean;
}

export interface Traces {
  readonly mark: string;
  /** Where it worked, real. */
  readonly folder: string;
  /** Its own process, where we started one: what is younger may be its. */
  readonly pid?: number | undefined;
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

async function survivorsOf(traces: Traces): Promise<readonly FoundProcess[]> {
  const look = async (pid: number): Promise<FoundProcess | undefined> => {
    const sure = await bearsMark(pid, traces.mark);
    if (pid === process.pid || !(sure || (await isPerhaps(pid, traces)))) return undefined;
    const command = (await processText(pid, 'cmdline')).replaceAll('\0', ' ').trim().slice(0, COMMAND_CHARACTERS);
    // One that has ended and is not collected yet has no command any more.
    return command === '' ? undefined : { pid, command, sure };
  };
  const found = await ofProcesses(await processNumbers(), look);
  return found.toSorted((left, right) => left.pid - right.pid);
}

/** An orphan, younger than the executor, in its folder. */
async function isPerhaps(pid: number, { folder, since, pid: own }: Traces): Promise<boolean> {
  const seen = await seenProcess(pid);
  if (seen === undefined || since === undefined || seen.parent !== 1 || seen.since < since || pid === own) return false;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '/');
  const inside = relative(folder, cwd);
  return inside !== '..' && !inside.startsWith(`..${sep}`);
}

function signal(pid: number, what: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, what);
  } catch {
    return false;
  }
}
