import { expect, it } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

it('keeps the order under one name, also behind work that fails, and holds up no other name', async () => {
  const inTurn = oneAtATime();
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  const first = inTurn('a', async () => {
    await gate.promise;
    seen.push('first');
    throw new Error('broken');
  });
  const second = inTurn('a', async () => seen.push('second'));
  await inTurn('b', async () => seen.push('beside'));
  expect(seen).toEqual(['beside']);
  gate.resolve();
  await expect(first).rejects.toThrow('broken');
  await second;
  expect(seen).toEqual(['beside', 'first', 'second']);
});
