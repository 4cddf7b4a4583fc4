/** What a worker process measures with: clocks, CPU, bytes on disk, and the fake server's own count of requests. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isJsonObject, parseJson } from '../src/base/json.ts';

export interface ServerStats {
  readonly requests: number;
  readonly outsideScript: number;
  readonly stalled: number;
  readonly peakInFlight: number;
  readonly firstRequestAtMs: number;
  /** Since the last reset, and since it started. */
  readonly cpuMs: number;
  readonly cpuTotalMs: number;
}

export interface Control {
  ask(path: string): Promise<string>;
  stats(): Promise<ServerStats>;
}

export function createControl(origin: string): Control {
  const ask = async (path: string): Promise<string> => (await fetch(origin + path)).text();
  return { ask, stats: async () => readStats(await ask('/stats')) };
}

function readStats(text: string): ServerStats {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`the fake server said ${text.slice(0, 100)}`);
  const found = parsed.value;
  const number = (name: keyof ServerStats): number => {
    const value = found[name];
    if (typeof value !== 'number') throw new Error(`the fake server did not say ${name}`);
    return value;
  };
  return {
    requests: number('requests'),
    outsideScript: number('outsideScript'),
    stalled: number('stalled'),
    peakInFlight: number('peakInFlight'),
    firstRequestAtMs: number('firstRequestAtMs'),
    cpuMs: number('cpuMs'),
    cpuTotalMs: number('cpuTotalMs'),
  };
}

/** User and system time of this process, all threads. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export const peakRssMb = (): number => process.resourceUsage().maxRSS / 1_024;

/** Bytes this process has caused to be written, write-ahead log and checkpoints included; Linux only. */
export function writtenBytes(): number | undefined {
  try {
    const found = /^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The logical size of a folder: every SQLite file is checkpointed first, whatever the system left in its log. */
export function settledBytes(folder: string): number {
  for (const file of filesIn(folder)) {
    if (!readFileSync(file).subarray(0, 15).equals(Buffer.from('SQLite format 3'))) continue;
    const database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  }
  return filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
