/**
 * The keyboard while something is drawn in place: what is typed is not echoed into the picture, and a run that is stopped with
 * Ctrl-Z leaves a screen that others can use.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** In a mode without echo these are keys like any other: what they mean is done here. */
const SIGNAL_KEYS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001a': 'SIGTSTP',
  '\u001c': 'SIGQUIT',
};

export interface Keyboard {
  /** Nothing is echoed until the returned function is called. What is typed meanwhile goes to nobody. */
  hush(): () => void;
  /** Somebody else reads the keys until this has settled. */
  lend<Value>(work: () => Promise<Value>): Promise<Value>;
  /**
   * Calls `leave` before the process is stopped with Ctrl-Z, and `back` when it goes on; both also when something else had
   * stopped it. Until the returned function is called.
   */
  onPause(leave: () => void, back: () => void): () => void;
}

export function createKeyboard(process: NodeJS.Process): Keyboard {
  const { stdin } = process;
  // Comes before everybody who draws anew then.
  process.on('SIGCONT', () => lookAtWindow(process));
  let hushed = false;
  let lent = 0;
  const heard = (keys: Uint8Array): void => {
    for (const key of new TextDecoder().decode(keys)) {
      const signal = SIGNAL_KEYS[key];
      if (signal !== undefined) process.kill(process.pid, signal);
    }
  };
  const take = (): void => {
    // Whoever sets the mode of a terminal from its background is stopped.
    if (!hushed || lent > 0 || !stdin.isTTY || !isInForeground(process)) return;
    stdin.setRawMode(true);
    stdin.off('data', heard).on('data', heard);
    stdin.resume();
  };
  const give = (): void => {
    stdin.off('data', heard);
    stdin.pause();
  };
  return {
    hush() {
      hushed = true;
      take();
      return () => {
        if (!hushed) return;
        hushed = false;
        if (lent > 0 || !stdin.isRaw) return;
        give();
        stdin.setRawMode(false);
      };
    },
    async lend(work) {
      if (hushed && lent === 0) give();
      lent += 1;
      try {
        return await work();
      } finally {
        lent -= 1;
        take();
      }
    },
    onPause(leave, back) {
      let wasBack = false;
      const pause = (): void => {
        leave();
        // Whoever asks has given the mode back before the signal came.
        const hearsKeys = stdin.isRaw || stdin.listenerCount('keypress') > 0;
        if (stdin.isRaw) stdin.setRawMode(false);
        process.off('SIGTSTP', pause);
        // Stops here, and goes on here; where no shell has job control, at once.
        process.kill(process.pid, 'SIGTSTP');
        process.on('SIGTSTP', pause);
        wasBack = true;
        lookAtWindow(process);
        // Whoever reads keys has them as keys from the moment on in which something is there to be seen.
        if (hearsKeys && stdin.isTTY && isInForeground(process)) stdin.setRawMode(true);
        take();
        back();
      };
      const goOn = (): void => {
        if (!wasBack) {
          leave();
          take();
          back();
        }
        wasBack = false;
      };
      process.on('SIGTSTP', pause);
      process.on('SIGCONT', goOn);
      return () => {
        process.off('SIGTSTP', pause);
        process.off('SIGCONT', goOn);
      };
    },
  };
}

/** Who is stopped is not told that the window has another size; Node looks when it is. */
function lookAtWindow(process: NodeJS.Process): void {
  process.emit('SIGWINCH', 'SIGWINCH');
}

/** Whether the terminal is this process's: `troupe run … &` must not touch it. When in doubt it is not. */
function isInForeground({ pid, platform }: NodeJS.Process): boolean {
  try {
    if (platform === 'linux') {
      const stat = readFileSync('/proc/self/stat', 'utf8');
      const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return group === foreground;
    }
    const printed = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${pid}`], { encoding: 'utf8' });
    const [group, foreground] = printed.trim().split(/\s+/);
    return group === foreground;
  } catch {
    return false;
  }
}
