/** The processes of this machine, as Linux shows them in `/proc`; elsewhere none are seen. */
import { readdir, readFile } from 'node:fs/promises';
import { atMost } from '../base/at-most.ts';

/** Whoever is started inherits it: what left its parent, its group and its session is still known by it. */
export const MARK_VARIABLE = 'TROUPE_EXECUTOR_MARK';

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it was started, in the ticks of the system. */
  readonly since: number;
}

const AT_ONCE = 16;

/** What is found of each process that there is; those of which nothing is found are left out. */
export async function ofProcesses<Found>(
  pids: readonly number[],
  look: (pid: number) => Promise<Found | undefined>,
): Promise<readonly Found[]> {
  const places = atMost(AT_ONCE);
  const found = await Promise.all(pids.map((pid) => places(() => look(pid))));
  return found.filter((one) => one !== undefined);
}

export async function processNumbers(): Promise<readonly number[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The name, which may hold anything, is in brackets; what counts stands behind it. */
export async function seenProcess(pid: number): Promise<SeenProcess | undefined> {
  const text = await processText(pid, 'stat');
  const words = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent = 0, group = 0, session = 0] = words.slice(1, 4).map(Number);
  return words.length < 20 ? undefined : { pid, parent, group, session, since: Number(words[19]) };
}

/** Empty for a process that is gone, for those of others, and where there is no such folder. */
export const processText = (pid: number, file: 'cmdline' | 'environ' | 'stat' | 'status'): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

/** The mark that a process was started with. */
export async function markOf(pid: number): Promise<string | undefined> {
  const variable = (await processText(pid, 'environ')).split('\0').find((one) => one.startsWith(`${MARK_VARIABLE}=`));
  return variable?.slice(MARK_VARIABLE.length + 1);
}

export async function bearsMark(pid: number, mark: string): Promise<boolean> {
  return (await processText(pid, 'environ')).includes(`${MARK_VARIABLE}=${mark}\0`);
}
