/**
 * Does something, and again whenever one of the files that it rests on has another content. The file system tells: nothing is
 * looked at while nothing happens. Changes that come while it is done count afterwards, all of them once.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createFolderWatch } from '../../agents/registry/watch.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { CommandContext } from '../terminal/command.ts';
import { type ExitCode, exitCodeOfError } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { WatchedFiles } from './watched-files.ts';

export interface Round {
  readonly code: ExitCode;
  /** What it rests on, as it is now. */
  look(): Promise<WatchedFiles>;
  /** Why there is no other after it. */
  readonly last?: string | undefined;
}

/** Ends with the code of the last round: when somebody stops it, or a round says that it was the last. */
export async function inRounds(
  { terminal, clock }: CommandContext,
  before: () => Promise<WatchedFiles>,
  round: (number: number) => Promise<Round>,
): Promise<ExitCode> {
  const stop = new AbortController();
  const unlisten = terminal.onStop(() => stop.abort());
  let look = before;
  try {
    for (let number = 1; ; number += 1) {
      // Before it is done: what changes meanwhile is seen.
      const startedAt = clock.now();
      const known = await contentsOf((await look()).files);
      const done = await round(number);
      look = done.look;
      if (stop.signal.aborted) return done.code;
      if (done.last !== undefined) {
        terminal.progress.line(`not watching any more: ${done.last}`);
        return done.code;
      }
      const { files, folders } = await look();
      const unseen = folders.length > limits.watchedFolders ? `, only ${limits.watchedFolders} folders (watchedFolders)` : '';
      const before = await alsoNew(known, files, startedAt);
      // Said last: whatever changes from here on is seen.
      terminal.progress.line(`watching ${counted(files.length, 'file')}${unseen}; Ctrl-C ends`);
      if ((await untilChanged(look, before, clock, stop.signal)) !== 'stopped') continue;
      // The terminal has shown the key: what the shell says next begins on a line of its own.
      if (terminal.progress.isTty) terminal.progress.line();
      return done.code;
    }
  } finally {
    unlisten();
  }
}

/** Whoever watches has the file open: what is wrong with it is said, and the next change is another try. */
export async function tried(
  { terminal: { progress } }: CommandContext,
  look: Round['look'],
  round: () => Promise<Round>,
): Promise<Round> {
  try {
    return await round();
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    progress.line(`${progress.paint.red('error')}: ${safeText(error.message)}`);
    if (error.fix !== undefined) progress.line(`  fix: ${safeText(error.fix)}`);
    return { code: exitCodeOfError(error.code), look };
  }
}

type Contents = ReadonlyMap<string, string>;

async function untilChanged(
  look: Round['look'],
  before: Contents,
  clock: Clock,
  stop: AbortSignal,
): Promise<'changed' | 'stopped'> {
  const current = new Set((await look()).files);
  const known = new Map<string, string>();
  // What does not count any more is forgotten, unless it is gone.
  for (const [file, content] of before)
    if (current.has(file) || (content !== NOTHING && (await contentOf(file)) === NOTHING)) known.set(file, content);
  while (!stop.aborted) {
    const bell = createBell();
    const watch = createFolderWatch();
    const release = watch.start(bell.ring);
    try {
      // Listening begins before the look: nothing falls in between. A folder that was made anew is listened to anew.
      watch.follow((await look()).folders);
      if (await isOther(look, known)) {
        await settled(bell, clock, stop);
        // An editor that puts a new file in the place of the old takes it away for a moment.
        if (!stop.aborted && (await isOther(look, known))) return 'changed';
        continue;
      }
      await bell.rung(clock, stop);
      await settled(bell, clock, stop);
    } finally {
      release();
    }
  }
  return 'stopped';
}

/**
 * With files that became known by what was done. They count as they are now, unless they were written since it began: then
 * nobody can tell whether it saw them so.
 */
async function alsoNew(known: Contents, files: readonly string[], since: number): Promise<Contents> {
  const all = new Map(known);
  for (const file of files) {
    if (all.has(file)) continue;
    const facts = await stat(file).catch(() => undefined);
    const isFresh = facts !== undefined && facts.ctimeMs >= since - FILE_CLOCK_MS;
    all.set(file, isFresh ? NOTHING : await contentOf(file));
  }
  return all;
}

/** The clock of a file system runs behind by up to this. */
const FILE_CLOCK_MS = 20;

async function isOther(look: Round['look'], known: Contents): Promise<boolean> {
  const now = await contentsOf((await look()).files);
  const gone = [...known].some(([file, content]) => content !== NOTHING && !now.has(file));
  return gone || [...now].some(([file, content]) => (known.get(file) ?? NOTHING) !== content);
}

/** Until nothing more has come for a moment, or for long enough. */
async function settled(bell: Bell, clock: Clock, stop: AbortSignal): Promise<void> {
  const start = clock.elapsed();
  do {
    bell.silence();
    await sleep(clock, limits.watchSettleMs, stop);
  } while (bell.isRung() && !stop.aborted && clock.elapsed() - start < limits.watchSettleMaxMs);
}

interface Bell {
  ring(): void;
  isRung(): boolean;
  silence(): void;
  rung(clock: Clock, stop: AbortSignal): Promise<void>;
}

function createBell(): Bell {
  let isRung = false;
  const rings = new AbortController();
  return {
    ring: () => {
      isRung = true;
      rings.abort();
    },
    isRung: () => isRung,
    silence: () => {
      isRung = false;
    },
    // Nothing else keeps the process alive: file watching does not.
    rung: async (clock, stop) => void (await sleep(clock, Number.MAX_SAFE_INTEGER, AbortSignal.any([rings.signal, stop]))),
  };
}

const NOTHING = '';

/** By content: a file that was only touched is the same. */
async function contentsOf(files: readonly string[]): Promise<Contents> {
  const contents = new Map<string, string>();
  for (const file of files) contents.set(file, await contentOf(file));
  return contents;
}

async function contentOf(file: string): Promise<string> {
  const facts = await stat(file, { bigint: true }).catch(() => undefined);
  if (facts === undefined || !facts.isFile()) return NOTHING;
  if (facts.size > BigInt(limits.agentFileBytes)) return `${facts.size}:${facts.mtimeNs}`;
  const bytes = await readFile(file).catch(() => undefined);
  return bytes === undefined ? NOTHING : createHash('sha256').update(bytes).digest('hex');
}
