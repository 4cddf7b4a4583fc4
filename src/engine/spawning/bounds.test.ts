import { expect, it } from 'vitest';
import { assistantLimits, type Spawner, spawnRefusal } from './bounds.ts';

const bounds = assistantLimits({ assistants: { depth: 2, perParent: 3, perSession: 5 } });
const assistants = (atWork: number, ended = 0) => [
  ...Array.from({ length: atWork }, () => ({ atWork: true })),
  ...Array.from({ length: ended }, () => ({ atWork: false })),
];
const agent = (depth: number, own: number, inSession: number): Spawner => ({
  ...{ kind: 'agent', depth },
  ...{ own: assistants(own, 9), inSession: assistants(inSession, 9) },
});

it.each([
  ['an agent', agent(1, 2, 4)],
  ['a client', { kind: 'client', own: assistants(2, 9) }],
] as const)('%s may have one more below every bound, whatever has ended', (_who, spawner) => {
  expect(spawnRefusal(bounds, spawner)).toBeUndefined();
});

it.each([
  ['deep enough', agent(2, 0, 0), 'assistants may be 2 levels deep', 'raise assistants.depth'],
  ['with as many as one agent may have', agent(1, 3, 3), 'one agent may have 3 assistants', 'raise assistants.perParent'],
  ['in a full session', agent(1, 0, 5), 'a session may have 5 assistants', 'raise assistants.perSession'],
])('an agent is refused: %s', (_why, spawner, limit, fix) => {
  const refused = spawnRefusal(bounds, spawner);
  expect(refused).toMatchObject({ code: 'too_many_assistants', message: expect.stringContaining(limit) });
  expect(refused?.fix).toBe(`Wait until one has ended, or ${fix} in troupe.yaml.`);
});

it('a client is refused by the same bound, and told what it can do itself and what to pass on', () => {
  expect(spawnRefusal(bounds, { kind: 'client', own: assistants(3) })).toEqual({
    code: 'too_many_assistants',
    message: 'Not spawned: one client may have 3 assistants at work at a time.',
    fix: 'Wait until one has ended, or cancel one. For whoever runs the server: raise assistants.perParent in troupe.yaml.',
  });
});

it('those that wait for somebody hold no place among those at work, and have a bound of their own', () => {
  const waiting = assistantLimits({ assistants: { perParent: 3, waiting: 2 } });
  const own = (count: number) => [...assistants(2), ...Array.from({ length: count }, () => ({ atWork: false, waits: true }))];
  expect(spawnRefusal(waiting, { kind: 'client', own: own(1) })).toBeUndefined();
  expect(spawnRefusal(waiting, { kind: 'client', own: own(2) })).toEqual({
    code: 'too_many_assistants',
    message: 'Not spawned: one client may have 2 assistants that wait for somebody.',
    fix: 'Wait until one was answered, or cancel one. For whoever runs the server: raise assistants.waiting in troupe.yaml.',
  });
});
