/** A server as a child process that cannot outlive ours. What it says is kept in part, for when it does not start. */

import { createWriteStream } from 'node:fs';
import { type Clock, sleep } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { endOf } from '../base/whole-words.ts';
import { signalGroup } from '../process/process-group.ts';
import { startTethered } from '../process/tethered-process.ts';

export interface ServerProcess {
  readonly pid: number;
  readonly ended: Promise<void>;
  /** Whether the process is still there. */
  alive(): boolean;
  /** The last of what it said. */
  said(): string;
  kill(signal: NodeJS.Signals): void;
  /** Asks it to end, and makes it end when it has not after a while. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Where all that it says is kept; begun anew with each start. */
  readonly log?: string | undefined;
  readonly onText?: ((text: string) => void) | undefined;
  /** What asks it to end in good order. */
  readonly stopSignal?: NodeJS.Signals | undefined;
  readonly stopMs?: number | undefined;
}

export function startServerProcess(options: ServerProcessOptions): ServerProcess {
  const { folder, environment, user, clock, stopSignal = 'SIGTERM', stopMs = limits.stopGraceMs } = options;
  const { child, release } = startTethered(options.program, options.args, { folder, environment, input: 'none', user });
  const log =
    options.log === undefined ? undefined : createWriteStream(options.log, { mode: 0o600 }).on('error', () => undefined);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = endOf(said + text, limits.mcpStderrBytes);
      log?.write(text);
      options.onText?.(text);
    });
  let gone = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      gone = true;
      log?.end();
      signalGroup(child, 'SIGKILL');
      release();
      resolve();
    };
    child.once('exit', end);
    child.once('error', (error) => {
      said += error.message;
      end();
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    alive: () => !gone,
    said: () => said,
    kill: (signal) => void child.kill(signal),
    async stop() {
      if (gone) return;
      child.kill(stopSignal);
      const quick = new AbortController();
      void ended.then(() => quick.abort());
      if ((await sleep(clock, stopMs, quick.signal)) === 'elapsed') child.kill('SIGKILL');
      await ended;
    },
  };
}
