/**
 * The systems that are measured. Each is loaded only when it is opened, so that a cold start pays for that system alone.
 * `floor` comes first: all ratios are to it.
 */
import type { Place, System } from '../common.ts';

export interface SystemEntry {
  readonly name: string;
  /** What it writes to disk, and when. */
  readonly keeps: string;
  /** Workloads it cannot do, and why. */
  readonly missing: { readonly [workload: string]: string };
  open(place: Place): Promise<System>;
}

export const BASELINE = 'floor';

export const systems: readonly SystemEntry[] = [
  {
    name: BASELINE,
    keeps: 'every event in its own commit; WAL, synchronous NORMAL',
    missing: {},
    open: async (place) => (await import('./floor.ts')).openFloor(place, 'fetch'),
  },
  {
    name: 'floor-undici',
    keeps: 'as floor',
    missing: {},
    open: async (place) => (await import('./floor.ts')).openFloor(place, 'undici'),
  },
  {
    name: 'troupe',
    keeps: 'every event, with the defaults of the library',
    missing: {},
    open: async (place) => (await import('./troupe.ts')).openTroupe(place),
  },
];

/**
 * The same with streams: a loop that reads them by hand, and runs that somebody watches
 * (bench/streaming.ts); and with spans (bench/telemetry.ts).
 */
export const streamingSystems: readonly SystemEntry[] = [
  {
    name: 'floor-streaming',
    keeps: 'as floor',
    missing: {},
    open: async (place) => (await import('./floor.ts')).openFloor(place, 'streaming'),
  },
  {
    name: 'troupe-watched',
    keeps: 'as troupe',
    missing: {},
    open: async (place) => (await import('./troupe.ts')).openTroupe(place, 'watched'),
  },
  {
    name: 'troupe-telemetry',
    keeps: 'as troupe',
    missing: {},
    open: async (place) => (await import('./troupe.ts')).openTroupe(place, 'telemetry'),
  },
];
