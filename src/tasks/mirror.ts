/**
 * Keeps the copies of tasks in Redis as new as the ledger. It never stands in the way of a run: an append is only noticed, the
 * rest happens behind it, and while Redis is slow or away nothing is kept but which runs are behind.
 */
import type { Clock } from '../base/clock.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok } from '../base/result.ts';
import type { Append, AppendOutcome, Ledger } from '../ledger/port.ts';
import { taskTypes } from '../projections/tasks/tasks.ts';
import { type CopyWritten, createTaskWriter, type WriterNeeds } from './task-writer.ts';

const counts = new Set<string>(taskTypes);

export interface MirrorNeeds extends WriterNeeds {
  /** Told once when a limit leaves something out, and again when that has been over. */
  readonly onLeft?: ((why: string) => void) | undefined;
}

/** The ledger, with its appends noticed. When it is closed, what is left is written first, if that is quick. */
export function withTaskMirror(needs: MirrorNeeds): Ledger {
  const { ledger, store, clock, onLeft } = needs;
  let left: string | undefined;
  const writer = createTaskWriter(needs);
  /** Runs that are behind, each with its session. */
  const behind = new Map<RunId, SessionId>();
  const bell = createBell(clock);
  let closing = false;
  let catchUpAt = 0;
  /** The connection over which it was last found out what is missing. */
  let foundOutOver = 0;

  const note = ({ session, fence }: Append, outcome: AppendOutcome): void => {
    if (outcome.kind !== 'appended') return;
    const changed = outcome.events.filter(({ event_type }) => counts.has(event_type));
    if (changed.length === 0) return;
    for (const run of fence === null ? changed.map(({ run_id }) => run_id) : [fence.run]) behind.set(run, session);
    // More than this is found out from the ledger, as after a crash.
    if (behind.size > limits.taskRunsBehind) {
      behind.clear();
      catchUpAt = 0;
    }
    bell.ring();
  };

  const round = async (): Promise<CopyWritten> => {
    if (!closing && clock.elapsed() >= catchUpAt) {
      const found = await writer.behind(({ run, session }) => behind.set(run, session));
      if (!found.ok) return found;
      if (found.value.left !== undefined && found.value.left !== left) onLeft?.(found.value.left);
      left = found.value.left;
      catchUpAt = clock.elapsed() + limits.taskCatchUpMs;
      foundOutOver = store.connections();
    }
    for (const [run, session] of [...behind]) {
      behind.delete(run);
      const written = await writer.write(run, session);
      if (written.ok) continue;
      behind.set(run, session);
      return written;
    }
    // It was away meanwhile: it may be another one, or have lost what it held.
    if (store.connections() !== foundOutOver) catchUpAt = 0;
    return ok(undefined);
  };

  const work = async (): Promise<void> => {
    while (!closing || behind.size > 0) {
      const done = await round().catch((): CopyWritten => fail({ kind: 'away', message: 'the ledger cannot be read' }));
      if (closing && !done.ok) return;
      if (!done.ok) await bell.silence(Math.max(store.retryInMs(), limits.redisRetryMs));
      else if (behind.size > 0) await bell.silence(limits.taskRoundMs);
      else {
        await bell.heard(Math.max(0, catchUpAt - clock.elapsed()));
        await bell.silence(limits.taskRoundMs);
      }
    }
  };
  const working = work();

  return {
    ...ledger,
    append: async (request) => {
      const outcome = await ledger.append(request);
      note(request, outcome);
      return outcome;
    },
    async close() {
      closing = true;
      bell.stop();
      let takeBack = (): void => undefined;
      const late = new Promise<void>((resolve) => {
        takeBack = clock.after(limits.taskCloseMs, resolve, 'hold');
      });
      await Promise.race([working, late]);
      takeBack();
      store.close();
      await ledger.close();
    },
  };
}

interface Bell {
  ring(): void;
  /** Until it rings, or has rung since it was last heard; at most so long. */
  heard(mostMs: number): Promise<void>;
  /** So long, whoever rings. */
  silence(ms: number): Promise<void>;
  /** From now on nobody waits. */
  stop(): void;
}

/** None of its timers keeps the process alive. */
function createBell(clock: Clock): Bell {
  let rung = false;
  let stopped = false;
  let onRing = (): void => undefined;
  let onStop = (): void => undefined;
  const wait = (ms: number, alsoRing: boolean): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(ms, resolve);
      onStop = () => {
        cancel();
        resolve();
      };
      onRing = alsoRing ? onStop : () => undefined;
    });
  return {
    ring: () => {
      rung = true;
      onRing();
    },
    async heard(mostMs) {
      if (!rung && !stopped) await wait(mostMs, true);
      rung = false;
    },
    async silence(ms) {
      if (!stopped) await wait(ms, false);
    },
    stop: () => {
      stopped = true;
      onStop();
    },
  };
}
