import { describe, expect, it } from 'vitest';
import { messageOf } from './errors.ts';

describe('the message of what was thrown', () => {
  it.each([
    [new Error('full'), 'full'],
    ['empty', 'empty'],
    [undefined, 'undefined'],
    [Object.create(null), 'something that has no words for itself'],
  ])('is there whatever it was', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });
});
