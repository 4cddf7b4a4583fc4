/** How much memory a process and all that it started use, in MiB, where the system says so: on Linux. */
import { readdir, readFile } from 'node:fs/promises';

const KIB_PER_MIB = 1024;

/** `undefined` when it is gone, or nobody knows. */
export async function memoryBelow(pid: number): Promise<number | undefined> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const seen = await Promise.all(pids.map(async (name) => [Number(name), statusOf(await statusText(name))] as const));
  const used = new Map(seen.flatMap(([one, status]) => (status === undefined ? [] : [[one, status]])));
  if (!used.has(pid)) return undefined;
  const family = new Set([pid]);
  // A set visits what is added while it is walked.
  for (const member of family) for (const [one, { parent }] of used) if (parent === member) family.add(one);
  const kib = [...family].reduce((sum, one) => sum + (used.get(one)?.kib ?? 0), 0);
  return Math.round(kib / KIB_PER_MIB);
}

const statusText = (pid: string): Promise<string> => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');

function statusOf(text: string): { readonly parent: number; readonly kib: number } | undefined {
  const parent = /^PPid:\s+(\d+)/m.exec(text)?.[1];
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(text)?.[1];
  return parent === undefined ? undefined : { parent: Number(parent), kib: Number(kib ?? 0) };
}
