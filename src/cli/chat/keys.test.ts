import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { createKeyReader, type Key } from './keys.ts';

const named = (...names: readonly string[]): unknown => names.map((name) => ({ kind: 'key', name }));

describe('keys', () => {
  it.each([
    ['\r\n\t\u007f\b', ['enter', 'newline', 'tab', 'backspace', 'backspace']],
    ['\u001b[A\u001b[B\u001bOC\u001bOD', ['up', 'down', 'right', 'left']],
    ['\u001b[H\u001b[F\u001b[1~\u001b[4~\u001b[3~', ['home', 'end', 'home', 'end', 'delete']],
    ['\u001b[1;5C\u001b[1;3D\u001bb\u001bf', ['word right', 'word left', 'word left', 'word right']],
    ['\u001b\r\u001b[13;2u\u001b\u007f', ['newline', 'newline', 'delete word']],
    ['\u0003\u0004\u001a\u000c', ['interrupt', 'end of input', 'suspend', 'redraw']],
    // Nobody's keys, and the escape key itself: what is typed behind it counts.
    ['\u001b[99~\u001b[I\u0000\u001b\u0003', ['interrupt']],
  ])('%j', (typed, names) => {
    expect(createKeyReader()(typed)).toEqual(named(...names));
  });

  it('a paste is one, with whatever is in it', () => {
    const keys = createKeyReader()('a\u001b[200~/exit\r\u001b[A\u0003\u001b[201~b');
    expect(keys).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'paste', text: '/exit\r\u001b[A\u0003', cut: false },
      { kind: 'text', text: 'b' },
    ]);
  });

  it('a paste that nobody may send is not kept', () => {
    const read = createKeyReader();
    expect(read('\u001b[200~')).toEqual([]);
    for (let part = 0; part < 10; part += 1) expect(read('x'.repeat(limits.promptBytes / 4))).toEqual([]);
    expect(read('\u001b[201~')).toMatchObject([{ kind: 'paste', cut: true, text: 'x'.repeat(limits.promptBytes) }]);
  });

  it('it does not matter in which pieces they come', () => {
    const pieces = fc.constantFrom(
      'a',
      'ü',
      '👍',
      '\r',
      '\u001b[A',
      '\u001b[200~',
      '\u001b[201~',
      '\u001b[1;5C',
      '\u001bOC',
      '\u0003',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 6 }), (parts, cuts) => {
        const typed = parts.join('');
        const read = createKeyReader();
        const places = [0, ...cuts.map((cut) => Math.min(cut, typed.length)).sort((left, right) => left - right), typed.length];
        const keys = places.slice(1).flatMap((to, index) => read(typed.slice(places[index], to)));
        expect(flat(keys)).toEqual(flat(createKeyReader()(typed)));
      }),
    );
  });
});

/** Text that comes in two pieces is the same text. */
function flat(keys: readonly Key[]): readonly string[] {
  const all: string[] = [];
  for (const key of keys) {
    const last = all.at(-1);
    if (key.kind === 'text' && last?.startsWith('text ') === true) all[all.length - 1] = last + key.text;
    else all.push(key.kind === 'key' ? key.name : `${key.kind} ${key.text}`);
  }
  return all;
}
