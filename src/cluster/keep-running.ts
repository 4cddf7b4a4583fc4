/** Keeps a server of a local cluster running: one that ends by itself is started again, so often and no more. */
import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { ServerProcess } from './server-process.ts';

export interface Kept {
  stop(): Promise<void>;
}

export interface KeepOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly start: () => Promise<ServerProcess>;
  readonly say: (text: string) => void;
  /** It ended too often. */
  readonly gaveUp: () => void;
}

/** Resolves when it has started for the first time; throws when it does not. */
export async function keepRunning({ name, clock, start, say, gaveUp }: KeepOptions): Promise<Kept> {
  const stopping = new AbortController();
  let current = await start();
  const watch = async (): Promise<void> => {
    for (let restarts = 0; restarts < limits.workerRestarts; restarts += 1) {
      await current.ended;
      if (stopping.signal.aborted) return;
      say(`${name} has ended (${lastLine(current.said())}); it is started again`);
      await sleep(clock, limits.workerRestartMs, stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        current = await start();
        // It was told to stop while it started.
        if (stopping.signal.aborted) return await current.stop();
      } catch (error) {
        say(`${name}: ${messageOf(error)}`);
      }
    }
    say(`${name} ended more than ${limits.workerRestarts} times (limit workerRestarts)`);
    gaveUp();
  };
  const watching = watch();
  return {
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(-200) || 'without a word';
}
