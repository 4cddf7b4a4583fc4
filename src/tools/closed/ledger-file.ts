/**
 * Knows a ledger by what it is, whoever it belongs to: SQLite keeps the mark of its program at the beginning of the file. Before
 * the log of a new one was first written back, the mark is in the log alone.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LEDGER_MARK } from '../../events/ledger-mark.ts';

/** What SQLite and the ledger put beside its file. */
export const BESIDE_LEDGER = ['', '-wal', '-shm', '-journal', '-bell', '-payloads'] as const;

const SQLITE = 'SQLite format 3\0';
const MARK_AT = 68;
const PAGE_HEAD = MARK_AT + 4;
const LOG_HEAD = 32;
const FRAME_HEAD = 24;
/** The first page is among the first that a new file writes. */
const FRAMES = 64;

/** Whether a path is the file of a ledger, or belongs to one. Nothing of it need exist but that file. */
export function belongsToLedger(absolute: string): boolean {
  for (let at = absolute; at !== dirname(at); at = dirname(at)) {
    const ends = at === absolute ? BESIDE_LEDGER : (['-payloads'] as const);
    if (ends.some((end) => at.endsWith(end) && isLedgerFile(end === '' ? at : at.slice(0, -end.length)))) return true;
  }
  return false;
}

function isLedgerFile(path: string): boolean {
  // Opening anything else, such as a pipe, could wait for ever.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const head = bytesOf(path, 0, PAGE_HEAD);
  return head?.subarray(0, SQLITE.length).toString('latin1') === SQLITE && (isMarked(head) || isMarkedInLog(`${path}-wal`));
}

function isMarked(head: Buffer): boolean {
  return head.length === PAGE_HEAD && head.readUInt32BE(MARK_AT) === LEDGER_MARK;
}

function isMarkedInLog(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const log = bytesOf(path, 0, LOG_HEAD);
  if (log?.length !== LOG_HEAD) return false;
  const size = log.readUInt32BE(8);
  for (let index = 0; index < FRAMES; index += 1) {
    const frame = bytesOf(path, LOG_HEAD + index * (FRAME_HEAD + size), FRAME_HEAD + PAGE_HEAD);
    if (frame === undefined || frame.length < FRAME_HEAD + PAGE_HEAD) return false;
    if (frame.readUInt32BE(0) === 1 && isMarked(frame.subarray(FRAME_HEAD))) return true;
  }
  return false;
}

function bytesOf(path: string, from: number, length: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, from));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
