/**
 * The gate for shared machines. Before a measurement it waits, for a bounded time, until other processes leave the CPUs
 * alone; it measures what they used meanwhile, and repeats a measurement that they disturbed. Of several attempts the one
 * with the least foreign load is kept: never chosen by its result. Without /proc/stat there is no gate.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Figures, Outcome, Pace, WorkerReport } from './measurement.ts';
import { type Control, cpuMs } from './meter.ts';

/** Other processes may use this much of all CPUs. */
export const QUIET_PERCENT = 25;
const MS_PER_TICK = 10;

interface Kept {
  readonly figures: Figures;
  readonly foreignPercent: number;
}

export interface Gate {
  measure(work: () => Promise<WorkerReport>): Promise<Outcome>;
}

/** `hurry` is asked each time: when it says yes, there is neither waiting nor a second attempt. */
export function createGate(control: Control, pace: Pace, hurry: () => boolean): Gate {
  /** CPU time that neither this process nor the fake server used. */
  const othersMs = async (): Promise<number | undefined> => {
    const busy = busyMs();
    return busy === undefined ? undefined : busy - cpuMs() - (await control.stats()).cpuTotalMs;
  };

  /** How much of all CPUs others used while `work` went on; `ownMs` says what `work` used itself. */
  async function watch<Value>(work: () => Promise<Value>, ownMs: (value: Value) => number) {
    const before = await othersMs();
    const startedAt = performance.now();
    const value = await work();
    const wallMs = performance.now() - startedAt;
    const after = await othersMs();
    if (before === undefined || after === undefined) return { value, percent: undefined };
    return { value, percent: Math.max(0, (100 * (after - before - ownMs(value))) / wallMs / cpus().length) };
  }

  async function waitUntilQuiet(): Promise<void> {
    const startedAt = performance.now();
    while (!hurry() && performance.now() - startedAt < pace.waitMs) {
      const { percent } = await watch(
        () => delay(pace.lookMs),
        () => 0,
      );
      if (percent === undefined || percent < QUIET_PERCENT) return;
    }
  }

  async function measure(work: () => Promise<WorkerReport>): Promise<Outcome> {
    let best: Kept | undefined;
    let attempts = 0;
    for (let attempt = 1; attempt <= pace.attempts; attempt += 1) {
      await waitUntilQuiet();
      const { value: report, percent } = await watch(work, (done) => done.cpuTotalMs);
      if (report.errors.length > 0) return { kind: 'failed', errors: report.errors };
      const foreignPercent = percent ?? 0;
      if (best === undefined || foreignPercent < best.foreignPercent) best = { figures: report.figures, foreignPercent };
      attempts = attempt;
      if (foreignPercent <= QUIET_PERCENT || hurry()) break;
    }
    return best === undefined ? { kind: 'missing', why: 'no attempt was made' } : { kind: 'measured', ...best, attempts };
  }

  return { measure };
}

/** CPU time of everything on the machine since it started, without waiting for input and idling. */
function busyMs(): number | undefined {
  try {
    const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/).slice(1).map(Number) ?? [];
    const [user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0, stolen = 0] = fields;
    return MS_PER_TICK * (user + nice + system + interrupt + softInterrupt + stolen);
  } catch {
    return undefined;
  }
}
