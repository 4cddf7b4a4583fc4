import { describe, expect, it } from 'vitest';
import type { KeyPress } from '../terminal/full-screen.ts';
import { afterKey, draftRow, EMPTY, type TypedDraft, typedDraft, withNewline } from './draft.ts';

const key = (name: string, ctrl = false): KeyPress => ({ name, text: '', ctrl, shift: false });
const typed = (text: string): KeyPress => ({ name: '', text, ctrl: false, shift: false });
const after = (draft: TypedDraft, ...keys: readonly KeyPress[]): TypedDraft => keys.reduce(afterKey, draft);

describe('a line that is being written', () => {
  it.each<[string, TypedDraft, readonly KeyPress[], TypedDraft]>([
    ['text goes where the cursor stands', { text: 'ad', cursor: 1 }, [typed('bc')], { text: 'abcd', cursor: 3 }],
    ['what is made of several signs goes as one', typedDraft('a👩‍👩‍👧'), [key('backspace')], { text: 'a', cursor: 1 }],
    ['there is nothing before the first', EMPTY, [key('backspace'), key('left')], EMPTY],
    ['delete takes what is behind', { text: 'abc', cursor: 1 }, [key('delete')], { text: 'ac', cursor: 1 }],
    ['the ends', typedDraft('abc'), [key('home'), key('right'), key('end'), key('left')], { text: 'abc', cursor: 2 }],
    ['Ctrl-U takes all before', { text: 'abc', cursor: 2 }, [key('u', true)], { text: 'c', cursor: 0 }],
    ['Ctrl-K takes all behind', { text: 'abc', cursor: 2 }, [key('k', true)], { text: 'ab', cursor: 2 }],
    ['Ctrl-W takes a word', typedDraft('one two '), [key('w', true)], { text: 'one ', cursor: 4 }],
    ['other keys change nothing', typedDraft('abc'), [key('f1'), key('x', true)], typedDraft('abc')],
  ])('%s', (_name, draft, keys, expected) => {
    expect(after(draft, ...keys)).toEqual(expected);
  });

  it('shows the part around the cursor, in one row', () => {
    expect(draftRow('> ', withNewline(typedDraft('one')), 20)).toEqual({ row: '> one⏎', column: 6 });
    const long = draftRow('> ', typedDraft('x'.repeat(100)), 20);
    expect(long.row).toHaveLength(18);
    expect(long.column).toBeLessThan(20);
    expect(draftRow('> ', { text: 'y'.repeat(100), cursor: 0 }, 20).column).toBe(2);
    expect(draftRow('> ', typedDraft('a\u001b[31mb '), 40).row).toBe('> ab ');
  });
});
