/**
 * How much memory a process and all that it started use, in MiB, where the system says so: on Linux. Whoever left its parent is
 * counted all the same: by a group or a session that somebody known is in, and by the mark that all of them inherit.
 */
import {
  bearsMark,
  markOf,
  ofProcesses,
  processNumbers,
  processText,
  type SeenProcess,
  seenProcess,
} from '../process/processes.ts';

const KIB_PER_MIB = 1024;

/** `undefined` when it is gone, or nobody knows. */
export async function memoryBelow(pid: number): Promise<number | undefined> {
  const all = await ofProcesses(await processNumbers(), seenProcess);
  const first = all.find((one) => one.pid === pid);
  if (first === undefined) return undefined;
  const family = grown(new Set([pid]), all);
  const mark = await markOf(pid);
  // Nobody who was there before it was started by it: few are left whose environment is read.
  const strangers = all.filter((one) => !family.has(one.pid) && one.since >= first.since && one.pid !== process.pid);
  const bearing = async (one: number) => (mark !== undefined && (await bearsMark(one, mark)) ? one : undefined);
  const marked = await ofProcesses(mark === undefined ? [] : strangers.map((one) => one.pid), bearing);
  const kib = await ofProcesses([...grown(new Set([...family, ...marked]), all)], residentKib);
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / KIB_PER_MIB);
}

/** With the children, groups and sessions of all that are in it, but for the group and the session that we are in ourselves. */
function grown(known: ReadonlySet<number>, all: readonly SeenProcess[]): ReadonlySet<number> {
  const own = all.find((one) => one.pid === process.pid);
  const [family, groups, sessions] = [new Set(known), new Set<number>(), new Set<number>()];
  for (let before = -1, now = 0; now > before; before = now, now = family.size + groups.size + sessions.size)
    for (const { pid, parent, group, session } of all) {
      if (![family.has(pid), family.has(parent), groups.has(group), sessions.has(session)].includes(true)) continue;
      family.add(pid);
      // That of somebody outside of our view is called zero.
      if (group !== 0 && group !== own?.group) groups.add(group);
      if (session !== 0 && session !== own?.session) sessions.add(session);
    }
  return family;
}

async function residentKib(pid: number): Promise<number | undefined> {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(await processText(pid, 'status'))?.[1];
  return kib === undefined ? undefined : Number(kib);
}
