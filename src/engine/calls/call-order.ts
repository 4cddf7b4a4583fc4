/**
 * The order in which the calls of one turn take effect. A call that changes something begins when every call before it has
 * come to its end, and whatever comes after it begins when it has; calls that change nothing, and those that are runs of
 * other agents, run beside each other. So a turn's calls mean the same as if they had been made one by one.
 *
 * What they ask is put in their order, too: a call that asks waits until each one before it has put its question or has none, and
 * not for answers.
 *
 * A call that was stopped (its question has no answer yet, the engine closes) stops those that wait for it: they are made
 * when the run is taken up again, after it. A call that waits for others by design holds nobody up.
 */
import type { Tool } from '../../tools/port.ts';
import type { AskingPlace } from '../hearing/waits.ts';

export interface CallOrder {
  /**
   * Gives a call its place behind those that were placed before it. `call` may do at once whatever has no effect outside,
   * such as looking what it would do, and awaits `itsTurn` before it has one.
   */
  place<Answer>(turn: number, tool: Tool | undefined, call: (place: CallPlace) => Promise<Answer>): Promise<Answer>;
}

export interface CallPlace extends AskingPlace {
  /** Resolves when the calls before it that it has to wait for have come to their end. */
  itsTurn(): Promise<void>;
}

type Kind = 'changes' | 'beside' | 'waits';

export function createCallOrder(): CallOrder {
  let current = 0;
  let placed: { readonly kind: Kind; readonly ended: Promise<unknown>; readonly asked: Promise<void> }[] = [];
  return {
    place(turn, tool, call) {
      if (turn !== current) placed = [];
      current = turn;
      const kind = kindOf(tool);
      const before = placed.filter((one) => one.kind === 'changes' || (kind === 'changes' && one.kind === 'beside'));
      const ahead = placed.map((one) => one.asked);
      const asked = Promise.withResolvers<void>();
      const ended = call({
        async itsTurn() {
          for (const one of before) await one.ended;
        },
        async mayAsk() {
          await Promise.all(ahead);
        },
        asked: () => asked.resolve(),
      });
      // Whoever waits for it hears of a failure, and so does the caller; nobody else has to.
      ended.then(
        () => asked.resolve(),
        () => asked.resolve(),
      );
      placed.push({ kind, ended, asked: asked.promise });
      return ended;
    },
  };
}

function kindOf(tool: Tool | undefined): Kind {
  if (tool === undefined || tool.kind !== undefined) return 'beside';
  if (tool.waits === true) return 'waits';
  return tool.readOnly === true ? 'beside' : 'changes';
}
