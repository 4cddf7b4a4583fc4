/**
 * Who hears the keys: the line that is being typed, or the turn that is under way. One key after the other; what nobody hears yet
 * is kept for whoever listens next.
 */
import { limits } from '../../base/limits.ts';
import type { KeyByKey } from '../terminal/key-by-key.ts';
import { createKeyReader, type Key } from './keys.ts';

/** `gone`: there is nobody at the keyboard any more. */
export type Heard = Key | { readonly kind: 'gone' };

export interface KeyListener {
  key(key: Heard): Promise<void>;
  /** Everything that was typed so far was heard. */
  idle(): void;
}

export interface Typing {
  take(): void;
  /** Takes it again, if it was taken: who stops a process may change its terminal. */
  takeAgain(): void;
  /** Somebody else reads the keyboard: what was typed before that is dropped. */
  letGo(): void;
  /** The keys go there until the returned function is called. */
  listen(listener: KeyListener): () => void;
  /** As if it were typed. */
  push(key: Heard): void;
}

export function createTyping(keyboard: KeyByKey): Typing {
  let read = createKeyReader();
  let queue: Heard[] = [];
  let listener: KeyListener | undefined;
  let working = false;

  const work = async (): Promise<void> => {
    working = true;
    for (let key = queue.shift(); key !== undefined; key = listener === undefined ? undefined : queue.shift())
      await listener?.key(key);
    working = false;
    listener?.idle();
  };
  const go = (): void => {
    if (!working && listener !== undefined && queue.length > 0) void work();
  };
  const push = (key: Heard): void => {
    if (queue.length < limits.keysWaiting) queue.push(key);
    go();
  };
  let taken = false;
  const take = (): void => {
    taken = true;
    keyboard.take((typed) => {
      if (typed === undefined) push({ kind: 'gone' });
      else for (const key of read(typed)) push(key);
    });
  };
  return {
    take,
    takeAgain() {
      if (taken) take();
    },
    letGo() {
      taken = false;
      keyboard.letGo();
      read = createKeyReader();
      queue = [];
    },
    listen(next) {
      listener = next;
      go();
      return () => {
        if (listener === next) listener = undefined;
      };
    },
    push,
  };
}
