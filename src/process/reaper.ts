/**
 * A small process beside ours that outlives us for a moment. It knows the process groups that must not survive us, and when
 * the pipe to it ends, because we ended in whatever way (SIGKILL too), it kills those that are left and ends as well.
 *
 * - It is a shell script that waits: it starts in a millisecond, needs a megabyte, and `killall node` does not reach it.
 * - One serves every group. It is started with the first, and keeps neither us nor a folder busy.
 * - When somebody kills it, another one takes its place and is told everything again.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** `+ 12` remembers a group, `- 12` forgets it; the end of the input is our end. */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do
  kill -s KILL -- "-$group"
done
`;

const remembered = new Set<number>();
let reaper: ChildProcess | undefined;

/** From `done` on, the group ends when this process does. */
export function rememberGroup(group: number, done: () => void): void {
  remembered.add(group);
  if (reaper === undefined) startReaper(done);
  else tell(reaper, `+ ${group}\n`, done);
}

/** To be called as soon as the group is empty: from then on its number may be given to others. */
export function forgetGroup(group: number): void {
  remembered.delete(group);
  if (reaper !== undefined) tell(reaper, `- ${group}\n`, () => {});
}

function startReaper(done: () => void): void {
  const started = spawn('/bin/sh', ['-c', SCRIPT, 'troupe-reaper'], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without one, all is as it would be had nobody asked for it; the next group tries again.
  started.once('error', () => {});
  if (started.pid === undefined) {
    done();
    return;
  }
  started.unref();
  started.stdin.on('error', () => {});
  started.once('exit', (_code, signal) => {
    reaper = undefined;
    // One that ends by itself cannot work here, and would do so for ever.
    if (signal !== null && remembered.size > 0) startReaper(() => {});
  });
  reaper = started;
  tell(started, [...remembered].map((group) => `+ ${group}\n`).join(''), done);
}

/** What cannot be written was meant for one that is gone: its successor is told. */
function tell({ stdin }: ChildProcess, lines: string, done: () => void): void {
  if (stdin === null || !stdin.writable) done();
  else stdin.write(lines, () => done());
}
