/**
 * One answer of a model, put together from the records that it is spread over. What comes after its first record waits until the
 * answer is whole, so that the order is that of what happened: the answer, then what its calls gave.
 */
import { limits } from '../base/limits.ts';
import type { AssistantMessage } from '../events/messages.ts';
import type { Item, ItemOf } from './items.ts';

type Part = AssistantMessage['content'][number];
type Rest = Omit<ItemOf<'answer'>, 'is' | 'message'>;

export interface GatheredAnswer {
  readonly key: string;
  readonly parts: Part[];
  rest: Rest;
  readonly after: Item[];
}

export interface Turns {
  /** The answer that is being put together, if it has this key. */
  open(agent: string | undefined): GatheredAnswer | undefined;
  begin(agent: string | undefined, key: string, rest: Rest): GatheredAnswer;
  /** At once, or behind the answer that is being put together. */
  give(item: Item): readonly Item[];
  /** The answer is whole. */
  close(agent: string | undefined): readonly Item[];
  closeAll(): readonly Item[];
}

export function createTurns(): Turns {
  const turns = new Map<string | undefined, GatheredAnswer>();
  const close = (agent: string | undefined): readonly Item[] => {
    const turn = turns.get(agent);
    if (turn === undefined) return [];
    turns.delete(agent);
    const { parts, rest, after } = turn;
    return [{ is: 'answer', ...rest, message: { role: 'assistant', content: parts } }, ...after];
  };
  return {
    open: (agent) => turns.get(agent),
    begin(agent, key, rest) {
      const turn: GatheredAnswer = { key, parts: [], rest, after: [] };
      turns.set(agent, turn);
      return turn;
    },
    give(item) {
      const turn = turns.get(item.agent);
      if (turn === undefined) return [item];
      turn.after.push(item);
      return turn.after.length + turn.parts.length < limits.transcriptTurnParts ? [] : close(item.agent);
    },
    close,
    closeAll: () => [...turns.keys()].flatMap(close),
  };
}
