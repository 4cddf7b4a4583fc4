/** Waiting until a session stands in a certain way, without looking again and again. It holds nothing while it waits. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { SessionState } from './session-state.ts';

export interface SessionWait {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  /** What is waited for; looked at after every change of the session. */
  isOver(): boolean;
  /** Called now and then while it lasts. */
  onTick(waitedMs: number): void;
}

export type Waited = 'over' | 'elapsed' | 'cancelled';

export async function waitFor(clock: Clock, state: SessionState, wait: SessionWait): Promise<Waited> {
  if (wait.signal.aborted) return 'cancelled';
  if (wait.milliseconds === 0 || wait.isOver()) return wait.isOver() ? 'over' : 'elapsed';
  const waited = await untilOver(clock, state, wait);
  // The change that ended it may be the first of several that were committed together: a report, and the end it belongs to.
  if (waited !== 'cancelled') await state.refresh();
  return waited;
}

function untilOver(clock: Clock, state: SessionState, wait: SessionWait): Promise<Waited> {
  const started = clock.elapsed();
  return new Promise((resolve, reject) => {
    const endings: (() => void)[] = [];
    const end = (settle: () => void): void => {
      for (const ending of endings.splice(0)) ending();
      settle();
    };
    const onAbort = (): void => end(() => resolve('cancelled'));
    let cancelTick = (): void => undefined;
    const tick = (): void => {
      cancelTick = clock.after(limits.waitProgressMs, () => {
        tick();
        wait.onTick(clock.elapsed() - started);
      });
    };
    tick();
    wait.signal.addEventListener('abort', onAbort, { once: true });
    endings.push(
      () => cancelTick(),
      () => wait.signal.removeEventListener('abort', onAbort),
      clock.after(wait.milliseconds, () => end(() => resolve('elapsed')), 'hold'),
      state.follow((error) => {
        if (error !== undefined) end(() => reject(error));
        else if (wait.isOver()) end(() => resolve('over'));
      }),
    );
  });
}
