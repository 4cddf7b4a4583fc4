/** How much CPU another process has used so far, its threads included. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The kernel's clock ticks per second, which Linux has fixed for programs. */
const TICKS_PER_SECOND = 100;

export function processCpuMs(pid: number): number {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Fields 14 and 15, counted behind the name, which may hold anything. */
function fromProc(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** `[[days-]hours:]minutes:seconds`, to a hundredth where the system says so. */
function fromPs(pid: number): number {
  const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [rest = '', days = '0'] = text.split('-').toReversed();
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}
