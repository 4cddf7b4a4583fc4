/** Staying with a run that another process has taken up: until it rests there, or nobody drives it any more. */
import { type Clock, sleep } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Engine, OpenWait, RunEnd } from '../engine/port.ts';
import { isWithin } from '../engine/record/root-of.ts';
import type { Ledger } from '../ledger/port.ts';

interface Beside {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly engine: Pick<Engine, 'resume' | 'waits'>;
  readonly clock: Clock;
  /** Whoever stays with it wants to leave. */
  readonly leaving: AbortSignal;
}

/** `free`: nobody drives it, and nothing keeps it from going on. */
export async function restElsewhere(beside: Beside, run: RunId): Promise<RunEnd | 'free'> {
  const { ledger, engine, clock, leaving } = beside;
  for (; !leaving.aborted; await sleep(clock, limits.inboxLookMs, leaving)) {
    const [row] = await ledger.runs({ run });
    if (row === undefined) return { kind: 'lost' };
    if (row.endedAt !== null) {
      const told = await engine.resume(run);
      return told.kind === 'ended' ? { kind: 'ended', result: told.result } : { kind: 'lost' };
    }
    if (row.owner !== null) continue;
    const reason = `it was ${row.state} in another process`;
    if (row.state === 'paused') return { kind: 'paused', reason };
    if (row.state === 'parked') return { kind: 'parked', reason, error: { code: 'parked', message: reason } };
    const waits = await waitsWithin(beside, run);
    return waits.length > 0 ? { kind: 'waiting', waits } : 'free';
  }
  return { kind: 'interrupted', reason: 'left; another process works on the run' };
}

async function waitsWithin({ ledger, engine }: Beside, run: RunId): Promise<readonly OpenWait[]> {
  const waits: OpenWait[] = [];
  for (const wait of await engine.waits(run)) if (await isWithin(ledger, wait.run, run)) waits.push(wait);
  return waits;
}
