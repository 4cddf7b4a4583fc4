import { expect, it } from 'vitest';
import { present } from './present.ts';

it('leaves out what is undefined, and only that', () => {
  const absent: string | undefined = undefined;
  const made: { readonly name?: string; readonly count: number; readonly empty: null } = present({
    name: absent,
    count: 0,
    empty: null,
  });
  expect(Object.keys(made)).toEqual(['count', 'empty']);
  expect({ name: 'before', ...present({ name: absent }) }).toEqual({ name: 'before' });
});
