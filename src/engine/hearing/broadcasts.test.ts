import { expect, it } from 'vitest';
import { type Broadcast, createBroadcasts } from './broadcasts.ts';

it('looking for what is unheard costs what is new, however much was said before', () => {
  const broadcasts = createBroadcasts();
  const readers = ['ana', 'ben', 'cleo'].map((name) => ({ channel: 'run_team', name, cycle: 1, leads: false }));
  let looks = 0;
  const say = (number: number): Broadcast => {
    const payload = {
      ...{ team: 'run_team', memberId: 'ana', type: 'update' as const, message: `word ${number}` },
      ...{ cycle: 1, turnCount: number, timestamp: '2026-01-01T00:00:00.000Z' },
    };
    return {
      run: 'run_ana',
      step: `turn/${number}`,
      get payload() {
        looks += 1;
        return payload;
      },
    };
  };
  const rounds = 1_000;
  for (let number = 1; number <= rounds; number += 1) {
    const said = say(number);
    broadcasts.publish(said);
    for (const reader of readers) {
      const unheard = broadcasts.unheard(reader);
      expect(unheard).toEqual(reader.name === 'ana' ? [] : [said]);
      broadcasts.heard(reader, unheard);
    }
  }
  // Per round a few for each reader: what is new is looked at when it is found, when it is given, and when it is passed.
  expect(looks).toBeGreaterThan(rounds);
  expect(looks).toBeLessThan(30 * rounds);
});
