/**
 * What the ports were asked on behalf of one loop, so that nothing is asked twice: a runner that takes the place of a dead
 * one asks the same things again and gets the same answers, or waits for those that are still under way.
 */

export interface PortCalls {
  /** The key is what is asked, and the turn: `tool/3/0`. */
  once<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer>;
  /** What was asked before this turn is not asked again. */
  forgetBefore(turn: number): void;
  /** Calls that have not come back. */
  underWay(): number;
  /** Resolves when no call is under way. */
  settled(): Promise<void>;
  /** For what a port threw on the spot. */
  fail(error: unknown): void;
  /** Resolves with what the first port threw; otherwise never. */
  readonly threw: Promise<{ readonly error: unknown }>;
}

/** `onQuiet` is called whenever the last call under way has come back. */
export function createPortCalls(onQuiet: () => void): PortCalls {
  // One kind of answer per key: whoever asks under a key knows which.
  const answers = new Map<string, Promise<unknown>>();
  const threw = Promise.withResolvers<{ readonly error: unknown }>();
  let underWay = 0;

  const watch = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    underWay += 1;
    try {
      return await ask();
    } catch (error) {
      threw.resolve({ error });
      throw error;
    } finally {
      underWay -= 1;
      if (underWay === 0) onQuiet();
    }
  };

  return {
    once<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
      const known = answers.get(key) as Promise<Answer> | undefined;
      if (known !== undefined) return known;
      const answer = watch(ask);
      answers.set(key, answer);
      // Whoever asked may be gone by the time it fails; `threw` tells.
      answer.catch(() => {});
      return answer;
    },
    forgetBefore(turn) {
      for (const key of answers.keys()) if (Number(key.split('/')[1]) < turn) answers.delete(key);
    },
    underWay: () => underWay,
    settled: async () => {
      await Promise.allSettled(answers.values());
    },
    fail: (error) => threw.resolve({ error }),
    threw: threw.promise,
  };
}
