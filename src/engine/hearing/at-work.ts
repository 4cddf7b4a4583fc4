/**
 * Whether anything of a driven session goes on by itself: a model is asked, a tool runs, a timer is waited for. As long as
 * something does, a question is waited for in its place, so that its answer is used at once. When nothing does, whoever waits
 * stops, and the run is left.
 *
 * Only work that comes to its end by itself counts. What is done in between, a few lines of code and a look at the ledger, may
 * be taken for rest: then a question is left a little early, and its answer is used when the run is taken up again.
 */
import { eventLoopTurn } from '../../base/clock.ts';

export interface AtWork {
  /** Gives what ends it; the first call counts. */
  begin(): () => void;
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Resolves when nothing has been at work for a moment. */
  rest(): Promise<void>;
}

/** So often everything that is ready has its turn before rest is taken for rest. */
const QUIET_TURNS = 3;

/** `written` resolves when what was to be recorded is. */
export function createAtWork(written: () => Promise<unknown>): AtWork {
  let working = 0;
  let begun = 0;
  let resting: PromiseWithResolvers<void> | undefined;
  let looking = false;

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    while (working === 0 && resting !== undefined) {
      const before = begun;
      await written();
      for (let turn = 0; turn < QUIET_TURNS; turn += 1) await eventLoopTurn();
      if (working > 0 || begun !== before) continue;
      resting.resolve();
      resting = undefined;
    }
    looking = false;
  };
  const begin = (): (() => void) => {
    working += 1;
    begun += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      working -= 1;
      void look();
    };
  };
  return {
    begin,
    async during(work) {
      const end = begin();
      try {
        return await work();
      } finally {
        end();
      }
    },
    rest() {
      resting ??= Promise.withResolvers<void>();
      const { promise } = resting;
      void look();
      return promise;
    },
  };
}
