import { expect, it } from 'vitest';
import { atMost } from './at-most.ts';

it('has no more at work than there are places, and lets the others in in their order, also behind what fails', async () => {
  const inPlace = atMost(2);
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const all = gates.map(({ promise }, index) =>
    inPlace(async () => {
      begun.push(index);
      await promise;
      if (index === 1) throw new Error('broken');
    }).catch(() => undefined),
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  expect(begun).toEqual([0, 1]);
  gates[1]?.resolve();
  await turn();
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});
