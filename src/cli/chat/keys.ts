/** What a terminal sends for keys, as keys. Nothing here waits: half a sequence is kept until the rest of it comes. */
import { limits } from '../../base/limits.ts';

export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word left'
  | 'word right'
  | 'delete before'
  | 'delete after'
  | 'delete word'
  | 'redraw'
  | 'interrupt'
  | 'end of input'
  | 'suspend';

export type Key =
  | { readonly kind: 'key'; readonly name: KeyName }
  | { readonly kind: 'text'; readonly text: string }
  /** Pasted as one. `cut`: there was more than anybody may send. */
  | { readonly kind: 'paste'; readonly text: string; readonly cut: boolean };

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u0001': 'home',
  '\u0002': 'left',
  '\u0003': 'interrupt',
  '\u0004': 'end of input',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u000b': 'delete after',
  '\u000c': 'redraw',
  '\u000e': 'down',
  '\u0010': 'up',
  '\u0015': 'delete before',
  '\u0017': 'delete word',
  '\u001a': 'suspend',
};

/** By the end of the sequence; a number before it, such as `;5`, says which keys are held. */
const LETTERS: Readonly<Record<string, KeyName>> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end' };
const NUMBERS: Readonly<Record<string, KeyName>> = { 1: 'home', 3: 'delete', 4: 'end', 7: 'home', 8: 'end' };
const BEHIND_ESCAPE: Readonly<Record<string, KeyName>> = {
  '\r': 'newline',
  '\n': 'newline',
  b: 'word left',
  f: 'word right',
  '\u007f': 'delete word',
  '\b': 'delete word',
};

const ESCAPE = '\u001b';
const SEQUENCE = new RegExp(`^${ESCAPE}\\[([\\d;]*)([A-Za-z~])`);
const HALF = new RegExp(`^${ESCAPE}(?:O|\\[[\\d;]*)?$`);
const TEXT = /^[^\p{Cc}]+/u;

/** Gives the keys of what was typed since the last call. */
export function createKeyReader(): (typed: string) => readonly Key[] {
  let rest = '';
  let pasted: string | undefined;
  const key = (name: KeyName): Key => ({ kind: 'key', name });

  /** Takes one key from the front of `rest`; `undefined` when there is no whole one. What is nobody's key is passed over. */
  const next = (): Key | 'nothing' | undefined => {
    if (pasted !== undefined) return endOfPaste();
    const text = TEXT.exec(rest)?.[0];
    if (text !== undefined) return taken(text, { kind: 'text', text });
    const [first = ''] = rest;
    if (first !== '\u001b') return first === '' ? undefined : taken(first, named(CONTROLS[first]));
    if (HALF.test(rest) || (rest.length < PASTE_BEGINS.length && PASTE_BEGINS.startsWith(rest))) return undefined;
    if (rest.startsWith(PASTE_BEGINS)) {
      rest = rest.slice(PASTE_BEGINS.length);
      pasted = '';
      return 'nothing';
    }
    const [whole = '', numbers = '', letter = ''] = SEQUENCE.exec(rest) ?? [];
    if (whole !== '') return taken(whole, named(ofSequence(numbers, letter)));
    if (rest[1] === 'O') return taken(rest.slice(0, 3), named(LETTERS[rest[2] ?? '']));
    const [, behind = ''] = rest;
    const name = Object.hasOwn(BEHIND_ESCAPE, behind) ? BEHIND_ESCAPE[behind] : undefined;
    // The escape key itself does nothing: what is typed behind it counts.
    return name === undefined ? taken('\u001b', 'nothing') : taken(`\u001b${behind}`, key(name));
  };
  const taken = <Taken>(text: string, what: Taken): Taken => {
    rest = rest.slice(text.length);
    return what;
  };
  const named = (name: KeyName | undefined): Key | 'nothing' => (name === undefined ? 'nothing' : key(name));

  /** Of what is too long only that it was: nobody may send it, and nobody has to keep it. */
  const endOfPaste = (): Key | undefined => {
    const end = rest.indexOf(PASTE_ENDS);
    // The mark itself may come in two pieces.
    const upTo = end === -1 ? Math.max(0, rest.length - PASTE_ENDS.length) : end;
    pasted = ((pasted ?? '') + rest.slice(0, upTo)).slice(0, limits.promptBytes + 1);
    rest = rest.slice(end === -1 ? upTo : end + PASTE_ENDS.length);
    if (end === -1) return undefined;
    const text = pasted;
    pasted = undefined;
    return { kind: 'paste', text: text.slice(0, limits.promptBytes), cut: text.length > limits.promptBytes };
  };

  return (typed) => {
    rest += typed;
    const keys: Key[] = [];
    for (let one = next(); one !== undefined; one = next()) if (one !== 'nothing') keys.push(one);
    return keys;
  };
}

function ofSequence(numbers: string, letter: string): KeyName | undefined {
  const [first = '', held] = numbers.split(';');
  if (letter === '~') return NUMBERS[first];
  // As newer terminals send Enter with Shift or Alt.
  if (letter === 'u') return first === '13' ? 'newline' : undefined;
  if (held !== undefined && letter === 'C') return 'word right';
  if (held !== undefined && letter === 'D') return 'word left';
  return LETTERS[letter];
}
