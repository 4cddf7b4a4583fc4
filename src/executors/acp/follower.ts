/**
 * Whoever follows a prompt for now. It may leave while something is asked, and another may come: what was told meanwhile is
 * told to the next one first, and what is still open is asked again. Bounded: what is too much is left out and counted.
 */
import { limits } from '../../base/limits.ts';
import type { ExecutorRan, ExecutorUpdate, ExecutorWrote, PromptHandlers } from '../port.ts';

type Told =
  | { readonly what: 'update'; readonly update: ExecutorUpdate }
  | { readonly what: 'wrote'; readonly file: ExecutorWrote }
  | { readonly what: 'ran'; readonly command: ExecutorRan };

export interface PromptFollower {
  attach(handlers: PromptHandlers): void;
  isAttached(handlers: PromptHandlers): boolean;
  detach(): void;
  tell(told: Told): void;
  /**
   * Asks whoever follows, and the next one if that one leaves before it has answered. One that fails to answer has not answered.
   * `otherwise` is the answer when the question is not open any more.
   */
  ask<Answer>(
    question: (handlers: PromptHandlers, signal: AbortSignal) => Promise<Answer>,
    otherwise: Answer,
    own: AbortSignal,
  ): Promise<Answer>;
  /** Whatever is asked has its answer: `otherwise`. */
  giveUp(): void;
  /** What was told while nobody followed is not told any more. */
  clear(): void;
}

interface Open {
  put(handlers: PromptHandlers): void;
  /** Who was asked is not to answer any more. */
  withdraw(): void;
  giveUp(): void;
}

export function createPromptFollower(): PromptFollower {
  let current: PromptHandlers | undefined;
  let kept: Told[] = [];
  let leftOut = 0;
  const open = new Set<Open>();
  const detach = (): void => {
    current = undefined;
    for (const one of open) one.withdraw();
  };
  return {
    attach(handlers) {
      detach();
      current = handlers;
      const [before, missing] = [kept, leftOut];
      kept = [];
      leftOut = 0;
      for (const told of before) pass(told, handlers);
      if (missing > 0)
        handlers.onUpdate({
          kind: 'notice',
          text: `${missing} updates were left out while nobody followed (executorKeptUpdates is ${limits.executorKeptUpdates}).`,
        });
      for (const one of [...open]) one.put(handlers);
    },
    detach,
    isAttached: (handlers) => current === handlers,
    tell(told) {
      if (current !== undefined) pass(told, current);
      else if (!keep(kept, told)) leftOut += 1;
    },
    ask(question, otherwise, own) {
      return new Promise((resolve) => {
        let asked: AbortController | undefined;
        const settle = (answer: typeof otherwise): void => {
          open.delete(one);
          own.removeEventListener('abort', one.giveUp);
          asked?.abort();
          resolve(answer);
        };
        const one: Open = {
          put(handlers) {
            asked?.abort();
            const mine = new AbortController();
            asked = mine;
            void question(handlers, mine.signal).then(
              (answer) => {
                if (open.has(one) && asked === mine) settle(answer);
              },
              () => undefined,
            );
          },
          withdraw() {
            asked?.abort();
            asked = undefined;
          },
          giveUp: () => {
            if (open.has(one)) settle(otherwise);
          },
        };
        open.add(one);
        own.addEventListener('abort', one.giveUp, { once: true });
        if (own.aborted) one.giveUp();
        else if (current !== undefined) one.put(current);
      });
    },
    giveUp() {
      for (const one of [...open]) one.giveUp();
    },
    clear() {
      kept = [];
      leftOut = 0;
    },
  };
}

function pass(told: Told, handlers: PromptHandlers): void {
  if (told.what === 'update') handlers.onUpdate(told.update);
  else if (told.what === 'wrote') handlers.wrote(told.file);
  else handlers.ran(told.command);
}

/** Pieces of a text become one, and of a call only its latest state counts. False when there is no room. */
function keep(kept: Told[], told: Told): boolean {
  const last = kept.at(-1);
  if (told.what === 'update' && last?.what === 'update') {
    const [before, now] = [last.update, told.update];
    if ((now.kind === 'text' && before.kind === 'text') || (now.kind === 'thought' && before.kind === 'thought')) {
      kept[kept.length - 1] = { what: 'update', update: { kind: now.kind, text: before.text + now.text } };
      return true;
    }
  }
  if (told.what === 'update' && told.update.kind === 'call') {
    const { id } = told.update.call;
    const at = kept.findIndex((one) => one.what === 'update' && one.update.kind === 'call' && one.update.call.id === id);
    if (at >= 0) {
      kept[at] = told;
      return true;
    }
  }
  if (kept.length >= limits.executorKeptUpdates) return false;
  kept.push(told);
  return true;
}
