/** Whatever is typed: nothing is lost, no row is too wide, and the cursor stands where the next character goes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWidth } from '../terminal/text-width.ts';
import { type ChatDraft, draftOf, draftText, editedDraft, emptyDraft, typedInto } from './draft.ts';
import type { KeyName } from './keys.ts';
import { draftLayout, draftRows, movedByRow } from './layout.ts';

const NAMES: readonly KeyName[] = [
  ...(['left', 'right', 'home', 'end', 'word left', 'word right', 'newline', 'up', 'down'] as const),
  ...(['backspace', 'delete', 'delete word', 'delete before', 'delete after'] as const),
];
const texts = fc.constantFrom('a', 'word ', '日本', '👨‍👩‍👧', '\u0301', 'x'.repeat(30), '\t');
const doings = fc.array(
  fc.oneof(
    fc.constantFrom(...NAMES).map((name) => ({ kind: 'key', name }) as const),
    texts.map((text) => ({ kind: 'text', text }) as const),
    texts.map((text) => ({ kind: 'paste', text: `${text}\r${text}`, cut: false }) as const),
  ),
  { maxLength: 40 },
);
type Doing = typeof doings extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

const done = (draft: ChatDraft, doing: Doing, width: number): ChatDraft => {
  if (doing.kind !== 'key') return typedInto(draft, doing) ?? draft;
  if (doing.name === 'up' || doing.name === 'down') return movedByRow(draft, width, doing.name === 'up' ? -1 : 1) ?? draft;
  return editedDraft(draft, doing.name);
};

describe('a draft', () => {
  it('fits the screen, and the cursor is on it', () => {
    fc.assert(
      fc.property(doings, fc.integer({ min: 20, max: 90 }), fc.integer({ min: 1, max: 12 }), (list, width, height) => {
        let draft = emptyDraft;
        for (const doing of list) {
          draft = done(draft, doing, width);
          expect(draft.cursor).toBeGreaterThanOrEqual(0);
          expect(draft.cursor).toBeLessThanOrEqual(draft.cells.length);
          const layout = draftLayout(draft, width, height);
          expect(layout.rows.length).toBeLessThanOrEqual(height);
          expect(layout.rows[layout.row]).toBeDefined();
          expect(layout.column).toBeLessThan(width);
          for (const [index, row] of layout.rows.entries()) {
            expect(textWidth(row)).toBeLessThan(width);
            expect(textWidth(row)).toBe(layout.widths[index]);
          }
        }
        const shown = draft.cells.map((cell) => cell.shown).join('');
        expect(
          draftRows(draft, width)
            .map((row) => row.slice(2))
            .join(''),
        ).toBe(shown);
      }),
    );
  });

  it('keeps what was typed around the cursor', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(20), (text, back) => {
        let draft = draftOf(text);
        for (let step = 0; step < back; step += 1) draft = editedDraft(draft, 'left');
        const at = draft.cells
          .slice(0, draft.cursor)
          .map((cell) => cell.text)
          .join('').length;
        const next = typedInto(draft, { kind: 'paste', text: 'PUT', cut: false });
        expect(next === undefined ? '' : draftText(next)).toBe(`${text.slice(0, at)}PUT${text.slice(at)}`);
      }),
    );
  });
});
