/**
 * Loss of power. Records in which order a real run writes and flushes: each commit of the ledger's file, with what its log held
 * then and whether SQLite flushed it, and each step by which a payload file comes to be. From that follows every state in which
 * a disk may be left when the power fails at a chosen point: what was flushed is there; of the rest any part may be.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Disk, type DiskStep, systemDisk } from '../../../src/ledger/blobs/disk.ts';

type Recorded =
  | { readonly kind: 'commit'; readonly flushed: boolean; readonly log: Buffer }
  | { readonly kind: 'step'; readonly step: DiskStep };

export interface Recording {
  readonly disk: Disk;
  /** How many things have been written or flushed so far. */
  length(): number;
  /** Every state that the disk may be in when the power fails after the first `length` of them. */
  statesAt(length: number): readonly DiskState[];
  stop(): void;
}

export interface DiskState {
  readonly name: string;
  /** Makes a ledger in this state, and gives the path of its file. */
  restore(folder: string): string;
}

type FileState = 'whole' | 'empty' | 'absent';

/** SQLite flushes its log with every commit at this level, and at lower ones only before it is emptied. */
const SYNCHRONOUS_FULL = 2;

/** Records from the moment on at which the ledger's file is there and flushed. */
export function recordDisk(path: string): Recording {
  const recorded: Recorded[] = [];
  const stop = onCommit((database) => {
    if (database.location() !== path) return;
    const level = (database.prepare('PRAGMA synchronous').get() as { synchronous: number }).synchronous;
    recorded.push({ kind: 'commit', flushed: level >= SYNCHRONOUS_FULL, log: readFileSync(`${path}-wal`) });
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
    statesAt: (length) => statesOf(path, recorded.slice(0, length)),
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

function statesOf(path: string, recorded: readonly Recorded[]): readonly DiskState[] {
  const logs = possibleLogs(recorded);
  const files = possibleFiles(recorded.flatMap((one) => (one.kind === 'step' ? [one.step] : [])));
  return logs.flatMap((log) =>
    combinations([...files]).map((chosen) => ({
      name: `${log.name}; ${chosen.map(([file, { state }]) => `${file.slice(-6)} ${state}`).join(', ')}`,
      restore: (folder) => {
        const restored = join(folder, 'ledger.db');
        // The file itself changes only when its log is emptied, and these runs are too short for that.
        writeFileSync(restored, readFileSync(path));
        if (log.bytes.length > 0) writeFileSync(`${restored}-wal`, log.bytes);
        for (const [file, { state, body }] of chosen) {
          if (state === 'absent') continue;
          const place = join(folder, `ledger.db-payloads`, relative(`${path}-payloads`, file));
          mkdirSync(dirname(place), { recursive: true });
          writeFileSync(place, state === 'whole' ? body : '');
        }
        return restored;
      },
    })),
  );
}

/** The log up to its last flushed commit is there, and after that as much as happens to be, torn anywhere. */
function possibleLogs(recorded: readonly Recorded[]): { readonly name: string; readonly bytes: Buffer }[] {
  const commits = recorded.flatMap((one) => (one.kind === 'commit' ? [one] : []));
  const kept = commits.findLastIndex(({ flushed }) => flushed);
  const possible = commits.flatMap(({ log }, index) => {
    if (index < kept) return [];
    const next = commits[index + 1]?.log;
    const torn = next === undefined ? [] : [{ name: `commit ${index} and half of the next`, bytes: halfWay(log, next) }];
    return [{ name: `commit ${index}`, bytes: log }, ...torn];
  });
  return kept === -1 ? [{ name: 'no commit', bytes: Buffer.alloc(0) }, ...possible] : possible;
}

/** Everything of the earlier one, and of what came after it only the last half: a disk may write in any order. */
function halfWay(earlier: Buffer, later: Buffer): Buffer {
  const torn = Buffer.from(later);
  torn.fill(0, earlier.length, earlier.length + Math.floor((later.length - earlier.length) / 2));
  return torn;
}

interface Placed {
  readonly body: string | Uint8Array;
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
    const states: FileState[] = ['whole', ...(hasBytes ? [] : ['empty' as const]), ...(hasName ? [] : ['absent' as const])];
    files.set(step.to, { body: source.body, states });
  }
  return files;
}

type Chosen = readonly [string, { readonly body: string | Uint8Array; readonly state: FileState }];

function combinations(files: readonly (readonly [string, Placed])[]): readonly (readonly Chosen[])[] {
  return files.reduce<readonly (readonly Chosen[])[]>(
    (all, [file, { body, states }]) =>
      all.flatMap((chosen) => states.map((state) => [...chosen, [file, { body, state }] as const])),
    [[]],
  );
}
