/** Executors of a test: the sample one in a folder of its own, on pipes or over TCP, and somebody who follows and remembers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { Environment } from '../../../src/base/environment.ts';
import { present } from '../../../src/base/present.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ok } from '../../../src/base/result.ts';
import type { ExecutorFields, ExecutorProtocol } from '../../../src/executors/entry.ts';
import type { ExecutorKeeping } from '../../../src/executors/kept-in.ts';
import { createExecutors } from '../../../src/executors/open.ts';
import type {
  ExecutorCommand,
  ExecutorRan,
  Executors,
  ExecutorUpdate,
  ExecutorWrote,
  OpenExecutor,
  PermissionAsked,
  PermissionDecision,
  PromptHandlers,
} from '../../../src/executors/port.ts';
import { createGuard } from '../../../src/tools/closed/guard.ts';
import { programOf } from '../programs/programs.ts';
import { sampleCommand, sampleSource } from './sample-command.ts';

const MAIN_2 = await programOf(join(import.meta.dirname, 'sample-agent-2-main.ts'));

export interface ExecutorWorld {
  readonly executors: Executors;
  /** Where the executor works. */
  readonly cwd: string;
  /** Beside it. */
  readonly outside: string;
  open(asked?: Partial<OpenExecutor>): ReturnType<Executors['open']>;
}

export interface WorldOptions {
  readonly args?: readonly string[];
  readonly fields?: ExecutorFields;
  readonly clock?: Clock;
  readonly environment?: Environment;
  readonly tcp?: boolean;
  /** The version of the protocol that both sides speak. */
  readonly protocol?: ExecutorProtocol;
  /** One that is there already. */
  readonly cwd?: string;
  /** What it is kept in. */
  readonly keeping?: ExecutorKeeping;
  /** Other executors. */
  readonly others?: Readonly<Record<string, ExecutorFields>>;
}

export async function executorWorld(options: WorldOptions = {}): Promise<ExecutorWorld> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-executor-')));
  const cwd = options.cwd ?? join(folder, 'work');
  mkdirSync(cwd, { recursive: true });
  const { args = [], fields = {}, protocol = 1 } = options;
  const started = options.keeping === undefined ? sampleCommand : sampleSource;
  const command = protocol === 1 ? started(...args) : [process.execPath, MAIN_2, ...args];
  const address = options.tcp === true ? { address: `127.0.0.1:${await listening(args)}` } : { command };
  const executors = createExecutors({
    ...{ clock: options.clock ?? systemClock, random: systemRandom, guard: createGuard() },
    environment: options.environment ?? { PATH: process.env['PATH'] },
    redact: (text) => text.replaceAll(/sk-ant-\w+/g, '[redacted]'),
    builtin: { program: ['troupe'], args: [], keys: [] },
    ...present({ keeping: options.keeping }),
    layers: async () =>
      ok([{ source: 'project', fields: { ...options.others, sample: { title: 'Sample', protocol, ...address, ...fields } } }]),
  });
  onTestFinished(async () => {
    await executors.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{ executors, cwd, outside: folder },
    open: (asked) => executors.open({ executor: 'sample', key: 'run-1', cwd, mcp: [], ...asked }, new AbortController().signal),
  };
}

/** The port that one listens on. */
async function listening(args: readonly string[]): Promise<number> {
  const [program = '', ...rest] = sampleCommand('--tcp', ...args);
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = await once(child.stdout, 'data');
  return Number(String(line));
}

/** A world with a session of the sample. */
export async function openedWorld(options: WorldOptions = {}, asked: Partial<OpenExecutor> = {}) {
  const world = await executorWorld(options);
  const opened = await world.open(asked);
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return { ...world, session: opened.value };
}

export interface Followed extends PromptHandlers {
  readonly updates: ExecutorUpdate[];
  readonly asked: PermissionAsked[];
  readonly files: ExecutorWrote[];
  readonly commands: ExecutorRan[];
  readonly wanted: (string | ExecutorCommand)[];
  readonly abort: AbortController;
  notices(): readonly string[];
}

export interface FollowOptions extends Partial<Pick<PromptHandlers, 'mayRead' | 'mayRun' | 'mayWrite' | 'ask'>> {
  readonly decide?: (asked: PermissionAsked) => Promise<PermissionDecision> | PermissionDecision;
}

/** Allows everything, unless it is told otherwise. */
export function follower({ decide = () => 'allow_once', ...rest }: FollowOptions = {}): Followed {
  const abort = new AbortController();
  const updates: ExecutorUpdate[] = [];
  const asked: PermissionAsked[] = [];
  const files: ExecutorWrote[] = [];
  const commands: ExecutorRan[] = [];
  const wanted: (string | ExecutorCommand)[] = [];
  return {
    ...{ abort, signal: abort.signal, updates, asked, files, commands, wanted },
    notices: () => updates.flatMap((one) => (one.kind === 'notice' ? [one.text] : [])),
    onUpdate: (update) => void updates.push(update),
    async permission(one) {
      asked.push(one);
      return await decide(one);
    },
    mayRead: async () => ({ allowed: true }),
    async mayWrite(path) {
      wanted.push(path);
      return { allowed: true };
    },
    async mayRun(command) {
      wanted.push(command);
      return { allowed: true };
    },
    wrote: (file) => void files.push(file),
    ran: (command) => void commands.push(command),
    ...rest,
  };
}

/** The real clock, but for waits of these lengths: they last until they are rung. */
export function heldClock(...held: readonly number[]): Clock & { ring(ms: number): void } {
  const waiting = new Map<number, Set<() => void>>(held.map((ms) => [ms, new Set()]));
  return {
    ...systemClock,
    after(ms, callback, hold) {
      const callbacks = waiting.get(ms);
      if (callbacks === undefined) return systemClock.after(ms, callback, hold);
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
    ring(ms) {
      for (const callback of waiting.get(ms) ?? []) callback();
    },
  };
}

/** A prompt of steps. */
export const steps = (...lines: readonly string[]) => [{ type: 'text' as const, text: lines.join('\n') }];
