/**
 * Commands that an executor has us run, each in a process group of its own inside its folder. What they print is kept twice:
 * as a whole with a hole in its middle for whoever proves something by it, and the end of it for the executor.
 */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { stopGroup } from '../../process/process-group.ts';
import { startTethered } from '../../process/tethered-process.ts';
import type { Entered, Program } from '../../sandbox/port.ts';
import { boundaryAfter } from '../../tools/bounded.ts';
import { createCapture } from '../../tools/shell/capture.ts';
import { inTime } from '../acp-wire/within.ts';
import type { ExecutorCommand, ExecutorRan } from '../port.ts';

export interface TerminalAsked {
  readonly command: ExecutorCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly outputBytes?: number | undefined;
}

export interface TerminalExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface Terminals {
  create(asked: TerminalAsked): Promise<Result<string, string>>;
  output(id: string): { readonly text: string; readonly truncated: boolean; readonly exit: TerminalExit | undefined } | undefined;
  waitForExit(id: string): Promise<TerminalExit | undefined>;
  /** False when there is no such terminal. */
  kill(id: string): Promise<boolean>;
  release(id: string): Promise<boolean>;
  /** Ends those that still run. */
  stopAll(): Promise<void>;
}

export interface TerminalNeeds {
  readonly clock: Clock;
  /** The program as it is to be started instead, inside walls where there are some. */
  enter(program: Program): Promise<Result<Entered, string>>;
  ran(command: ExecutorRan): void;
}

/** Output may still come from a process that left its group and kept the pipe. */
const LAST_WORDS_MS = 500;

interface Terminal {
  readonly ended: Promise<TerminalExit>;
  readonly tail: Tail;
  exit: TerminalExit | undefined;
  stop(): Promise<void>;
}

export function createTerminals(needs: TerminalNeeds): Terminals {
  const all = new Map<string, Terminal>();
  let count = 0;
  return {
    async create(asked) {
      if (all.size >= limits.executorTerminals)
        return fail(`There are ${all.size} terminals already (executorTerminals). Release one first.`);
      const started = await startTerminal(asked, needs);
      if (!started.ok) return started;
      count += 1;
      const id = `terminal-${count}`;
      all.set(id, started.value);
      return ok(id);
    },
    output(id) {
      const terminal = all.get(id);
      return terminal === undefined ? undefined : { ...terminal.tail.read(), exit: terminal.exit };
    },
    waitForExit: async (id) => await all.get(id)?.ended,
    async kill(id) {
      await all.get(id)?.stop();
      return all.has(id);
    },
    async release(id) {
      const terminal = all.get(id);
      all.delete(id);
      await terminal?.stop();
      return terminal !== undefined;
    },
    stopAll: async () => {
      await Promise.all([...all.values()].map((terminal) => terminal.stop()));
    },
  };
}

async function startTerminal(
  { command, environment, outputBytes }: TerminalAsked,
  needs: TerminalNeeds,
): Promise<Result<Terminal, string>> {
  const { clock } = needs;
  const since = clock.elapsed();
  const [program, args] = command.args.length === 0 ? ['/bin/sh', ['-c', command.command]] : [command.command, command.args];
  const entered = await needs.enter({ file: program, args, folder: command.cwd, environment });
  if (!entered.ok) return entered;
  const { file, args: given, folder, environment: passed, sandbox, left } = entered.value;
  const { child, release } = startTethered(file, given, { folder, environment: passed, input: 'none' });
  const stdout = createCapture(limits.toolOutputBytes);
  const stderr = createCapture(limits.toolOutputBytes);
  const tail = createTail(Math.max(0, Math.min(outputBytes ?? limits.executorTerminalBytes, limits.executorTerminalBytes)));
  for (const [stream, capture] of [[child.stdout, stdout] as const, [child.stderr, stderr] as const])
    stream.on('data', (chunk: Buffer) => {
      capture.append(chunk);
      tail.append(chunk);
    });
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined)).once('error', (error) => resolve(codeOf(error) ?? messageOf(error)));
  });
  if (problem !== undefined) {
    left();
    return fail(`${program} could not be started: ${problem}`);
  }
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<TerminalExit>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  let stopped = false;
  const ended = exited.then(async (exit) => {
    // What it left behind in its group ends with it, and so does the wait for what that would still print.
    await stopGroup(child, closed, clock);
    await inTime(closed, LAST_WORDS_MS, clock);
    release();
    // One that does not know of the walls would look for another cause.
    const refused = left();
    if (refused.length > 0) tail.append(Buffer.from(`(The sandbox refused:\n${refused.join('\n')})\n`));
    terminal.exit = exit;
    child.stdout.destroy();
    child.stderr.destroy();
    const [out, err] = [stdout.text(), stderr.text()];
    needs.ran({
      ...{ ...command, ...exit, durationMs: clock.elapsed() - since, stopped },
      ...present({ sandbox }),
      ...{ stdout: out, stdoutBytes: stdout.total(), stderr: err, stderrBytes: stderr.total() },
    });
    return exit;
  });
  const terminal: Terminal = {
    ...{ ended, tail, exit: undefined },
    async stop() {
      if (this.exit === undefined) {
        // Told twice, it was stopped the first time.
        stopped ||= child.exitCode === null && child.signalCode === null;
        await stopGroup(child, exited, clock);
      }
      await ended;
    },
  };
  return ok(terminal);
}

interface Tail {
  append(chunk: Buffer): void;
  read(): { readonly text: string; readonly truncated: boolean };
}

/** The end of what was printed, cut at a whole character. */
function createTail(most: number): Tail {
  let held: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  return {
    append(chunk) {
      held.push(chunk);
      bytes += chunk.length;
      if (bytes <= most * 2 + 4_096) return;
      const whole = Buffer.concat(held);
      held = [Buffer.from(whole.subarray(whole.length - most))];
      bytes = most;
      truncated = true;
    },
    read() {
      const whole = Buffer.concat(held);
      const from = Math.max(0, whole.length - most);
      return {
        text: whole.subarray(truncated || from > 0 ? boundaryAfter(whole, from) : 0).toString(),
        truncated: truncated || from > 0,
      };
    },
  };
}
