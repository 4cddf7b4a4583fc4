/** The end of a session, which comes once: because somebody wants it, nobody came back in time, or it went by itself. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { ExecutorEnd } from '../port.ts';
import type { OpenedSession } from './handshake.ts';

export interface SessionEnding {
  isAlive(): boolean;
  /** Somebody ended it. */
  hasBegun(): boolean;
  end(): Promise<ExecutorEnd>;
  /** It did not hear that it should stop: nothing more is said to it, and nobody waits for it. */
  endNow(): Promise<ExecutorEnd>;
  /** From now on it ends by itself, unless somebody comes. */
  wait(): void;
  come(): void;
}

export function createEnding({ peer, link, session, state, canClose }: OpenedSession, clock: Clock): SessionEnding {
  const { follower, terminals } = state;
  let ending: Promise<ExecutorEnd> | undefined;
  let isGone = false;
  let forget = (): void => undefined;
  const run = async (isDeaf: boolean): Promise<ExecutorEnd> => {
    forget();
    if (state.turn?.isOver() === false && !isGone) peer.notify('session/cancel', { sessionId: session });
    state.turn?.cancel();
    follower.giveUp();
    await terminals.stopAll();
    if (canClose && !isGone && !isDeaf) await peer.request('session/close', { sessionId: session }, limits.executorEndMs);
    const how = await (isDeaf ? link.endNow() : link.end());
    peer.close();
    return how;
  };
  const begin = (isDeaf: boolean): Promise<ExecutorEnd> => {
    ending ??= run(isDeaf);
    return ending;
  };
  const end = (): Promise<ExecutorEnd> => begin(false);
  void peer.closed.then(() => {
    isGone = true;
    follower.giveUp();
    void terminals.stopAll();
    // Otherwise whoever follows the prompt ends it, and is told why.
    if (state.turn === undefined || state.turn.isOver()) void end();
  });
  return {
    isAlive: () => ending === undefined && !isGone,
    hasBegun: () => ending !== undefined,
    end,
    endNow: () => begin(true),
    wait() {
      forget();
      if (ending === undefined) forget = clock.after(limits.executorIdleMs, () => void end());
    },
    come: () => forget(),
  };
}
