/** How much CPU another process has used so far, its threads included. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's clock ticks per second, which Linux has fixed for programs. */
const TICKS_PER_SECOND = 100;

export function processCpuMs(pid: number): number {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Of this process and all below it, also those that have ended since; Linux only. */
export function familyCpuMs(): number {
  const all = new Map<number, readonly string[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      all.set(Number(name), fieldsOf(Number(name)));
    } catch {
      // It has just ended.
    }
  }
  const family = new Set([process.pid]);
  // A set visits what is added while it is walked.
  for (const parent of family) for (const [pid, fields] of all) if (Number(fields[1]) === parent) family.add(pid);
  const ticks = [...family].flatMap((pid) => (all.get(pid) ?? []).slice(11, 15)).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

function fromProc(pid: number): number {
  const fields = fieldsOf(pid);
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** Those behind the name, which may hold anything: the parent is the second, times are the 12th to 15th. */
function fieldsOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
}

/** `[[days-]hours:]minutes:seconds`, to a hundredth where the system says so. */
function fromPs(pid: number): number {
  const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [rest = '', days = '0'] = text.split('-').toReversed();
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}
