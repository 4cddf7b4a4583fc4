/** Names in addresses: whatever somebody calls something, the link to it leads to it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressOfWait } from '../parts/wait/address.ts';
import { namesIn } from './names-in-path.ts';
import { addressOf, places } from './places.ts';

it('are found as they were put there, whatever is in them', () => {
  const groups = places.find(({ name }) => name === 'groups');
  if (groups === undefined) throw new Error('there are no groups');
  const place = { ...groups, paths: ['/groups/:group'] };
  fc.assert(
    fc.property(fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('R&D', 'a/b', '100%', '%20', 'a:b=c?d#e+f')), (group) => {
      expect(namesIn('/groups/:group', addressOf(place, { group }))).toEqual({ group });
    }),
  );
});

it('of waits may have steps, and the ids that providers give to calls', () => {
  const wait = '1/tool/functions.write:0';
  expect(namesIn('/inbox/:run/*', addressOfWait({ run: 'run_1', wait }))).toEqual({ run: 'run_1', '*': wait });
});

it('that no program has written are left as they are', () => {
  expect(namesIn('/groups/:group', '/groups/100%')).toEqual({ group: '100%' });
  expect(namesIn('/inbox', '/inbox')).toEqual({});
});
