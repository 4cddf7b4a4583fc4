/**
 * Loss of power. Records in which order a real run writes and flushes: each commit of the ledger's file, with what its log held
 * then and whether SQLite flushed it, and each step by which a payload file comes to be. From that follows every state in which
 * a disk may be left when the power fails at a chosen point: what was flushed is there; of the rest any part may be.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Disk, type DiskStep, systemDisk } from '../../../src/ledger/blobs/disk.ts';

type Recorded =
  | { readonly kind: 'commit'; readonly level: number; readonly log: Buffer; readonly file: Buffer }
  | { readonly kind: 'step'; readonly step: DiskStep };

export interface Recording {
  readonly disk: Disk;
  /** How many things have been written or flushed so far. */
  length(): number;
  /** Every state that the disk may be in when the power fails after the first `length` of them. */
  statesAt(length: number): readonly DiskState[];
  /** After how many of them the log had just been written back into the file. */
  checkpoints(): readonly number[];
  stop(): void;
}

export interface DiskState {
  readonly name: string;
  /** Makes a ledger in this state, and gives the path of its file. */
  restore(folder: string): string;
}

/** `half` and `zeroed` have lost what was written last; what is `unnamed` lies under the name that it was written to. */
type FileState = 'whole' | 'half' | 'zeroed' | 'empty' | 'absent' | 'unnamed';

/** SQLite flushes its log with every commit at this level. */
const SYNCHRONOUS_FULL = 2;
/** From this level on, it flushes its log before it is written back into the file, and the file before the log begins anew. */
const SYNCHRONOUS_NORMAL = 1;

/**
 * Records from the moment on at which the ledger's file is there and flushed; what comes before it is `creationStates`. The log
 * is written back whenever it has `pages` pages; runs are too short for what SQLite does unless told.
 */
export function recordDisk(path: string, pages?: number): Recording {
  const recorded: Recorded[] = [];
  const first = readFileSync(path);
  let file = first;
  const stop = onCommit((database) => {
    if (database.location() !== path) return;
    if (pages !== undefined) database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
    const level = (database.prepare('PRAGMA synchronous').get() as { synchronous: number }).synchronous;
    const now = readFileSync(path);
    if (!now.equals(file)) file = now;
    recorded.push({ kind: 'commit', level, log: readFileSync(`${path}-wal`), file });
  });
  const note = (step: DiskStep): void => void recorded.push({ kind: 'step', step });
  return {
    disk: {
      carryOut: async (step) => {
        await systemDisk.carryOut(step);
        note(step);
      },
      carryOutNow: (step) => {
        systemDisk.carryOutNow(step);
        note(step);
      },
    },
    length: () => recorded.length,
    stop,
    statesAt: (length) => statesOf(path, first, recorded.slice(0, length)),
    checkpoints: () =>
      recorded.flatMap((one, index) => {
        if (one.kind !== 'commit') return [];
        const before = recorded.slice(0, index).findLast((other) => other.kind === 'commit');
        return one.file === (before?.kind === 'commit' ? before.file : first) ? [] : [index + 1];
      }),
  };
}

/** Calls back after each commit of a transaction that was prepared as such, of any database of this process. */
function onCommit(callback: (database: DatabaseSync) => void): () => void {
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...options) {
    const statement = prepare.call(this, sql, ...options);
    if (sql !== 'COMMIT') return statement;
    const run = statement.run.bind(statement);
    const noted = () => {
      const outcome = run();
      callback(this);
      return outcome;
    };
    return Object.defineProperty(statement, 'run', { value: noted });
  };
  return () => {
    DatabaseSync.prototype.prepare = prepare;
  };
}

function statesOf(path: string, first: Buffer, recorded: readonly Recorded[]): readonly DiskState[] {
  const ledgers = possibleLedgers(first, recorded);
  const files = possibleFiles(recorded.flatMap((one) => (one.kind === 'step' ? [one.step] : [])));
  return ledgers.flatMap((ledger) =>
    combinations([...files]).map((chosen) => ({
      name: `${ledger.name}; ${chosen.map(([file, { state }]) => `${file.slice(-6)} ${state}`).join(', ')}`,
      restore: (folder) => {
        const restored = join(folder, 'ledger.db');
        writeFileSync(restored, ledger.file);
        if (ledger.log.length > 0) writeFileSync(`${restored}-wal`, ledger.log);
        for (const [file, { state, body, from }] of chosen) {
          if (state === 'absent') continue;
          const place = join(folder, `ledger.db-payloads`, relative(`${path}-payloads`, state === 'unnamed' ? from : file));
          mkdirSync(dirname(place), { recursive: true });
          writeFileSync(place, left(Buffer.from(body), state));
        }
        return restored;
      },
    })),
  );
}

/** The first and another one, each in its turn: all of them at every commit would take long and show no more. */
const someOf = <One>([first, ...others]: readonly One[], index: number): One[] =>
  [first, others[index % others.length]].filter((one) => one !== undefined);

/** What is left of the bytes of a file. */
function left(body: Buffer, state: FileState): Buffer {
  const half = body.subarray(0, body.length >> 1);
  if (state === 'half') return half;
  if (state === 'zeroed') return Buffer.concat([half, Buffer.alloc(body.length - half.length)]);
  return state === 'empty' ? Buffer.alloc(0) : body;
}

interface LedgerState {
  readonly name: string;
  readonly log: Buffer;
  readonly file: Buffer;
}

/**
 * The log up to its last flushed commit is there, and after that as much as happens to be, torn anywhere. The file is as the
 * last writing back left it; while one is under way, any part of it may be there, and the whole log is.
 */
function possibleLedgers(first: Buffer, recorded: readonly Recorded[]): readonly LedgerState[] {
  const commits = recorded.flatMap((one) => (one.kind === 'commit' ? [one] : []));
  const fileBefore = (index: number): Buffer => commits[index - 1]?.file ?? first;
  const writesBack = commits.map(({ file }, index) => file !== fileBefore(index));
  const kept = commits.findLastIndex(
    ({ level }, index) => level >= SYNCHRONOUS_FULL || (writesBack[index] === true && level >= SYNCHRONOUS_NORMAL),
  );
  const underWay = commits.findLastIndex(
    ({ level }, index) => writesBack[index] === true && (index === commits.length - 1 || level < SYNCHRONOUS_NORMAL),
  );
  const possible = commits.flatMap(({ log, file }, index): LedgerState[] => {
    if (index < kept) return [];
    const next = commits[index + 1]?.log;
    const torn = next === undefined ? [] : someOf(torns(log, next), index);
    const files = index < underWay || underWay === -1 ? [] : torns(fileBefore(underWay), commits[underWay]?.file ?? file);
    return [
      { name: `commit ${index}`, log, file },
      ...torn.map((one) => ({ name: `commit ${index} and ${one.name} log`, log: one.bytes, file })),
      ...files.map((one) => ({ name: `commit ${index}, written back with ${one.name} file`, log, file: one.bytes })),
    ];
  });
  return kept === -1 ? [{ name: 'no commit', log: Buffer.alloc(0), file: first }, ...possible] : possible;
}

/** Everything of the earlier one, and of what came after it only a part: a disk may write in any order. */
function torns(earlier: Buffer, later: Buffer): { readonly name: string; readonly bytes: Buffer }[] {
  const [from, to] = changed(earlier, later);
  const middle = from + ((to - from) >> 1);
  const base = Buffer.alloc(Math.max(earlier.length, later.length));
  earlier.copy(base);
  const without = (start: number, end: number): Buffer => {
    const bytes = Buffer.from(later);
    base.copy(bytes, start, start, end);
    return bytes;
  };
  return [
    { name: 'the last half of the next', bytes: without(from, middle) },
    { name: 'the first half of the next', bytes: without(middle, to) },
    { name: 'the next without its middle', bytes: without(Math.max(from, middle - 100), Math.min(to, middle + 100)) },
    { name: 'the next up to its middle', bytes: without(middle, to).subarray(0, Math.max(earlier.length, middle)) },
    { name: 'all but a byte of the next', bytes: without(to - 1, to).subarray(0, Math.max(earlier.length, to - 1)) },
  ];
}

/** The part in which they differ, from its first byte to behind its last. */
function changed(earlier: Buffer, later: Buffer): [number, number] {
  let [from, to] = [0, later.length];
  while (from < to && earlier[from] === later[from]) from += 1;
  while (to > from + 1 && earlier[to - 1] === later[to - 1]) to -= 1;
  return [from, to];
}

const LOST_BYTES: readonly FileState[] = ['half', 'zeroed', 'empty'];
const LOST_NAME: readonly FileState[] = ['absent', 'unnamed'];

interface Placed {
  readonly body: string | Uint8Array;
  /** The name that it was written to first. */
  readonly from: string;
  readonly states: readonly FileState[];
}

function possibleFiles(steps: readonly DiskStep[]): ReadonlyMap<string, Placed> {
  const flushedAfter = (index: number, path: string): boolean =>
    steps.slice(index).some((step) => step.kind === 'flush' && step.path === path);
  const isKept = (folder: string): boolean => {
    const made = steps.findIndex((step) => step.kind === 'folder' && step.path === folder);
    return made === -1 || (flushedAfter(made, dirname(folder)) && isKept(dirname(folder)));
  };
  const files = new Map<string, Placed>();
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'rename') continue;
    const written = steps.findLastIndex((one, at) => at < index && one.kind === 'write' && one.path === step.from);
    const source = steps[written];
    if (source?.kind !== 'write') throw new Error(`${step.from} was never written`);
    const hasBytes = flushedAfter(written, step.from) || flushedAfter(index, step.to);
    const hasName = flushedAfter(index, dirname(step.to)) && isKept(dirname(step.to));
    const states: FileState[] = ['whole', ...(hasBytes ? [] : LOST_BYTES), ...(hasName ? [] : LOST_NAME)];
    files.set(step.to, { body: source.body, from: step.from, states });
  }
  // What has no name of its own yet may lie there in any form.
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'write' || steps.some((one, at) => at > index && one.kind === 'rename' && one.from === step.path)) continue;
    files.set(step.path, { body: step.body, from: step.path, states: ['half', 'absent'] });
  }
  return files;
}

type Chosen = readonly [string, Omit<Placed, 'states'> & { readonly state: FileState }];

function combinations(files: readonly (readonly [string, Placed])[]): readonly (readonly Chosen[])[] {
  return files.reduce<readonly (readonly Chosen[])[]>(
    (all, [file, { states, ...placed }]) =>
      all.flatMap((chosen) => states.map((state) => [...chosen, [file, { ...placed, state }] as const])),
    [[]],
  );
}

/** The states that the files of a ledger may be left in while it is made: after each statement, whole and with a torn log. */
export function creationStates(path: string, create: () => void): readonly DiskState[] {
  const taken: { readonly file: Buffer; readonly log: Buffer }[] = [];
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql) {
    exec.call(this, sql);
    if (this.location() === path) taken.push({ file: bytesAt(path), log: bytesAt(`${path}-wal`) });
  };
  try {
    create();
  } finally {
    DatabaseSync.prototype.exec = exec;
  }
  const states = new Map<string, DiskState>();
  const add = (name: string, file: Buffer | undefined, log: Buffer): void => {
    const key = [file ?? 'none', log].map((bytes) => createHash('sha256').update(bytes).digest('hex')).join();
    if (!states.has(key)) states.set(key, { name, restore: (folder) => restored(folder, file, log) });
  };
  add('nothing', undefined, Buffer.alloc(0));
  add('an empty file', Buffer.alloc(0), Buffer.alloc(0));
  for (const [index, { file, log }] of taken.entries()) {
    add(`statement ${index}`, file, log);
    add(`statement ${index} without its log`, file, Buffer.alloc(0));
    if (log.length > 0) for (const { name, bytes } of torns(Buffer.alloc(0), log)) add(`${name} to ${index}`, file, bytes);
  }
  return [...states.values()];
}

const bytesAt = (path: string): Buffer => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0));

function restored(folder: string, file: Buffer | undefined, log: Buffer): string {
  const path = join(folder, 'ledger.db');
  if (file !== undefined) writeFileSync(path, file);
  if (log.length > 0) writeFileSync(`${path}-wal`, log);
  return path;
}
