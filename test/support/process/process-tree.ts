/** Which processes somebody started, and which of them are still there. */
import { runningProcesses, type SeenProcess } from './marked-processes.ts';

/** Everything below a process, however deep. */
export function startedBy(pid: number): readonly SeenProcess[] {
  const all = runningProcesses();
  const below = (parent: number): readonly SeenProcess[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

export function stillThere(before: readonly SeenProcess[]): readonly SeenProcess[] {
  const known = new Map(before.map((one) => [one.pid, one]));
  return runningProcesses().filter(({ pid, command }) => known.get(pid)?.command === command);
}

/** A command line that ends when what it starts has left its group and its session, and prints its number. */
export const leaves = (command: string): string =>
  `setsid sh -c 'echo $$ > left; exec ${command}' > /dev/null 2>&1 < /dev/null & until [ -s left ]; do sleep 0.02; done; cat left`;
