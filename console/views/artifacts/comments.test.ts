import { describe, expect, it } from 'vitest';
import { commentsText } from './comments.ts';

describe('comments on lines', () => {
  it('reach the agent with the line that they are about', () => {
    const line = { position: 3, number: 4, side: 'new', text: 'const a = 1;', words: 'Why one?' } as const;
    expect(commentsText('a.ts', [line, { ...line, number: 2, side: 'old', text: 'x', words: 'Keep it.' }])).toBe(
      'Comments on your change of a.ts:\n\na.ts, line 4:\n> const a = 1;\nWhy one?\n\na.ts, line 2 (before the change):\n> x\nKeep it.',
    );
  });
});
