import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundResult, groupDigits } from './bounded.ts';
import { createCapture } from './shell/capture.ts';

describe('boundResult', () => {
  it('leaves short text alone', () => {
    expect(boundResult('hello', 5)).toEqual({ text: 'hello' });
  });

  it('keeps head and tail and says what is missing', () => {
    const { text, wholeBytes } = boundResult(`start${'x'.repeat(200_000)}end`, 1_000);
    expect(text).toMatch(/^startx+\n\[… 199,\d{3} bytes left out; the whole is in the ledger …\]\nx+end$/);
    expect(wholeBytes).toBe(200_008);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
  });

  it('never exceeds the limit, never splits a character, and counts what is missing', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 400 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 300 }), (whole, max) => {
        const bounded = boundResult(whole, max);
        expect(Buffer.byteLength(bounded.text)).toBeLessThanOrEqual(max);
        expect(bounded.text.isWellFormed()).toBe(true);
        expect(bounded.text.includes('\uFFFD')).toBe(whole.includes('\uFFFD') && bounded.text.includes('\uFFFD'));
        expect(bounded.wholeBytes).toBe(Buffer.byteLength(whole) > max ? Buffer.byteLength(whole) : undefined);
      }),
    );
  });

  it('writes large numbers with their digits in groups', () => {
    expect([0, 999, 1_000, 1_234_567].map(groupDigits)).toEqual(['0', '999', '1,000', '1,234,567']);
  });
});

describe('createCapture', () => {
  it('gives back what it was given, in any chunks, as long as it fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const bytes = Buffer.from(text);
        const capture = createCapture(Math.max(2, bytes.length));
        for (let at = 0; at < bytes.length; at += size) capture.append(bytes.subarray(at, at + size));
        expect(capture.text()).toBe(bytes.toString());
        expect(capture.total()).toBe(bytes.length);
      }),
    );
  });

  it('keeps both ends of what does not fit, without broken characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 100, maxLength: 300 }),
        fc.integer({ min: 1, max: 64 }),
        (text, size) => {
          const bytes = Buffer.from(text.toWellFormed().replaceAll('\uFFFD', '?'));
          const capture = createCapture(40);
          for (let at = 0; at < bytes.length; at += size) capture.append(bytes.subarray(at, at + size));
          const shown = capture.text();
          const [head = '', tail = ''] = shown.split(/\n\[… [\d,]+ bytes left out …\]\n/);
          expect(shown).not.toContain('\uFFFD');
          expect(bytes.toString().startsWith(head)).toBe(true);
          expect(bytes.toString().endsWith(tail)).toBe(true);
          const missing = Number(/… ([\d,]+) bytes/.exec(shown)?.[1]?.replaceAll(',', ''));
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + missing).toBe(bytes.length);
        },
      ),
    );
  });
});
