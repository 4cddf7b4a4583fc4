/**
 * The person's own editor on a text, as a child in their terminal: from $VISUAL, or $EDITOR. The text lies in a file that nobody
 * else can read, in a folder of its own, and is gone afterwards, also when this process leaves before the editor does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { codeOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';

/** A text and the name of the file in which it is shown: editors go by its ending. */
export interface Draft {
  readonly name: string;
  readonly text: string;
}

/** How often it is looked whether an editor that was told to go has gone. */
const LOOK_MS = 20;

export function editorIn(env: Environment): string | undefined {
  return [env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one.trim() !== '');
}

/** What became of the text, or why there is nothing to be had; `left`: whoever sits there is asked to go. */
export type Edited = Result<string, string> | 'left';

export interface Editing {
  readonly done: Promise<Edited>;
  /**
   * Has the editor end, with all that it has started, and gives the terminal back as it was; then calls back. Who says it twice
   * does not wait for an editor that takes its time.
   */
  stop(then: () => void): void;
}

export function startEditing(editor: string, draft: Draft, process: NodeJS.Process): Editing {
  const asked = new AbortController();
  const stopping: Stopping = { asked: asked.signal, tell: () => undefined, afterwards: [] };
  return {
    done: edited(editor, draft, process, stopping),
    stop(then) {
      stopping.afterwards.push(then);
      stopping.tell(asked.signal.aborted ? 'SIGKILL' : 'SIGTERM');
      asked.abort();
    },
  };
}

interface Stopping {
  readonly asked: AbortSignal;
  /** Does nothing before there is an editor. */
  tell: (signal: NodeJS.Signals) => void;
  readonly afterwards: (() => void)[];
}

async function edited(editor: string, { name, text }: Draft, process: NodeJS.Process, stopping: Stopping): Promise<Edited> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-edit-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  try {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const ended = stopping.asked.aborted ? undefined : await inTerminal(editor, path, process, stopping);
    if (stopping.asked.aborted) {
      for (const then of stopping.afterwards) then();
      return 'left';
    }
    if (ended !== undefined) return fail(ended);
    const read = await readText(path);
    if (!read.ok) return read;
    // Most editors end the last line; whoever gave a text without an end meant none.
    const back = text.endsWith('\n') ? read.value : read.value.replace(/\r?\n$/, '');
    if (back.trim() === '') return fail('the file is empty');
    return back === text ? fail('nothing was changed') : ok(back);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Why it did not end well. */
async function inTerminal(
  editor: string,
  path: string,
  process: NodeJS.Process,
  stopping: Stopping,
): Promise<string | undefined> {
  const restore = terminalModes(process);
  // A shell takes the words apart, as everywhere where there is an $EDITOR. The path is no part of what it reads, and Ctrl-C,
  // which reaches everything that stands in the terminal, is the editor's alone.
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${path}"`, { stdio: 'inherit', shell: true })
      : spawn('/bin/sh', ['-c', `trap : INT; ${editor} "$@"`, 'editor', path], { stdio: 'inherit' });
  const told = new Set<number>();
  const tell = (signal: NodeJS.Signals): void => {
    for (const pid of withDescendants(child.pid, process)) told.add(pid);
    for (const pid of told) signalTo(process, pid, signal);
  };
  const leave = (): void => tell('SIGTERM');
  const theirs = (): void => undefined;
  stopping.tell = tell;
  process.on('exit', leave);
  process.on('SIGINT', theirs);
  try {
    const closed = new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(`the editor cannot be started: ${error.message}`));
      child.once('close', (code, signal) => resolve(code === 0 ? undefined : `the editor ended with ${code ?? signal}`));
    });
    const isAsked = new Promise<undefined>((resolve) => {
      stopping.asked.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const ended = await Promise.race([closed, isAsked]);
    if (stopping.asked.aborted) await untilGone(told, process);
    if (ended !== undefined || stopping.asked.aborted) restore();
    return ended;
  } finally {
    process.off('exit', leave);
    process.off('SIGINT', theirs);
  }
}

/** Whoever does not listen is not waited for. */
async function untilGone(told: ReadonlySet<number>, process: NodeJS.Process): Promise<void> {
  const left = (): readonly number[] => [...told].filter((pid) => signalTo(process, pid, 0));
  for (let waitedMs = 0; waitedMs < limits.stopGraceMs && left().length > 0; waitedMs += LOOK_MS)
    await sleep(systemClock, LOOK_MS);
  for (const pid of left()) signalTo(process, pid, 'SIGKILL');
}

/** An editor that was killed leaves the terminal as it had it. Gives what sets it back. */
function terminalModes({ stdin, platform }: NodeJS.Process): () => void {
  if (platform === 'win32' || stdin.isTTY !== true) return () => undefined;
  const stty = (...args: readonly string[]): string => {
    try {
      return execFileSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).trim();
    } catch {
      return '';
    }
  };
  const saved = stty('-g');
  return () => void (saved !== '' && stty(saved));
}

/** The last first. $EDITOR may be a script, and what it has started is the editor. */
function withDescendants(root: number | undefined, { platform }: NodeJS.Process): readonly number[] {
  if (root === undefined) return [];
  const found = [root];
  const parents = platform === 'win32' ? [] : runningProcesses();
  // A process may be listed before its parent.
  for (const parent of found) found.push(...parents.flatMap(([pid, above]) => (above === parent ? [pid] : [])));
  return found.toReversed();
}

function runningProcesses(): readonly (readonly [pid: number, parent: number])[] {
  try {
    const printed = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return printed
      .trim()
      .split('\n')
      .map((line) => {
        const [pid, parent] = line.trim().split(/\s+/);
        return [Number(pid), Number(parent)] as const;
      });
  } catch {
    return [];
  }
}

/** Whether it was there. */
function signalTo(process: NodeJS.Process, pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function readText(path: string): Promise<Result<string, string>> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > limits.editedBytes) return fail(`the file is larger than ${limits.editedBytes} bytes (editedBytes)`);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.readFile()));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail('the file is gone');
    return fail(error instanceof TypeError ? 'the file is not text' : 'the file cannot be read');
  }
}
