/** Finds processes by a mark in their environment (Linux) or on their command line (elsewhere, where `ps` sees no more). */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Everything that runs now. A process that ended and only waits to be collected is not running. */
export function runningProcesses(): readonly SeenProcess[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, state = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined || state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

export function markedProcesses(mark: string): readonly Pick<SeenProcess, 'pid' | 'command'>[] {
  if (!existsSync('/proc/self/environ')) return runningProcesses().filter(({ command }) => command.includes(mark));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && textOf(name, 'environ').includes(mark))
    .map((name) => ({ pid: Number(name), command: textOf(name, 'cmdline') }));
}

/** For the end of a test that failed: they would go on for minutes. */
export function endMarked(mark: string): void {
  for (const { pid } of markedProcesses(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Empty for a process that is gone, and for those of others. */
function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
