import { expect, it } from 'vitest';
import { eventLoopTurn } from '../../base/clock.ts';
import type { KeyByKey } from '../terminal/key-by-key.ts';
import { createTyping, type Heard } from './typing.ts';

/** A keyboard that is typed on by hand. */
function byHand() {
  let heard: ((typed: string | undefined) => void) | undefined;
  const keyboard: KeyByKey = {
    take: (listener) => {
      heard = listener;
    },
    letGo: () => {
      heard = undefined;
    },
    suspend: async () => undefined,
    onReturn: () => () => undefined,
  };
  return { keyboard, type: (text: string) => heard?.(text) };
}

it('what was typed before somebody else read the keyboard is dropped, and what is typed after that is heard', async () => {
  const { keyboard, type } = byHand();
  const typing = createTyping(keyboard);
  typing.take();
  // A question is put now: nobody has seen it when this was typed.
  type('yes\r');
  typing.letGo();
  typing.take();
  const keys: Heard[] = [];
  typing.listen({ key: async (key) => void keys.push(key), idle: () => undefined });
  await eventLoopTurn();
  expect(keys).toEqual([]);
  type('n');
  await eventLoopTurn();
  expect(keys).toHaveLength(1);
});

it('what was typed while nobody listened is heard by whoever listens next', async () => {
  const { keyboard, type } = byHand();
  const typing = createTyping(keyboard);
  typing.take();
  type('ab');
  const keys: Heard[] = [];
  typing.listen({ key: async (key) => void keys.push(key), idle: () => undefined });
  await eventLoopTurn();
  expect(keys).toEqual([{ kind: 'text', text: 'ab' }]);
});
