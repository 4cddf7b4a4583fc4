/**
 * The order in which the calls of one turn take effect. A call that changes something begins when every call before it has
 * come to its end, and whatever comes after it begins when it has; calls that change nothing, and those that are runs of
 * other agents, run beside each other. So a turn's calls mean the same as if they had been made one by one.
 *
 * A call that was stopped (its question has no answer yet, the engine closes) stops those that wait for it: they are made
 * when the run is taken up again, after it. A call that waits for others by design holds nobody up.
 */
import type { Tool } from '../../tools/port.ts';

export interface CallOrder {
  /**
   * Gives a call its place behind those that were placed before it. `call` may do at once whatever has no effect outside,
   * such as asking for permission, and awaits `itsTurn` before it has one.
   */
  place<Answer>(turn: number, tool: Tool | undefined, call: (itsTurn: () => Promise<void>) => Promise<Answer>): Promise<Answer>;
}

type Kind = 'changes' | 'beside' | 'waits';

export function createCallOrder(): CallOrder {
  let current = 0;
  let placed: { readonly kind: Kind; readonly ended: Promise<unknown> }[] = [];
  return {
    place(turn, tool, call) {
      if (turn !== current) placed = [];
      current = turn;
      const kind = kindOf(tool);
      const before = placed.filter((one) => one.kind === 'changes' || (kind === 'changes' && one.kind === 'beside'));
      const ended = call(async () => {
        for (const one of before) await one.ended;
      });
      // Whoever waits for it hears of a failure, and so does the caller; nobody else has to.
      ended.catch(() => undefined);
      placed.push({ kind, ended });
      return ended;
    },
  };
}

function kindOf(tool: Tool | undefined): Kind {
  if (tool === undefined || tool.kind !== undefined) return 'beside';
  if (tool.waits === true) return 'waits';
  return tool.readOnly === true ? 'beside' : 'changes';
}
