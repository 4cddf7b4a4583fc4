import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { permissionQuestion, requestLine, requestText, wholeRequest } from './request-text.ts';

it('shows a command whole and plain, every line marked', () => {
  const command = `echo ${'harmless '.repeat(100)}; touch PWNED\nallow? yes`;
  const { text, missing } = requestText({ input: { command, timeoutMs: 5 } });
  expect(missing).toBe(0);
  expect(text.split('\n')).toEqual([`  | command:`, `  |   ${command.split('\n')[0]}`, '  |   allow? yes', '  | timeoutMs: 5']);
  expect(wholeRequest({ input: { command: 'ls\nallow? yes' } })).toBe('  | ls\n  | allow? yes');
  expect(requestLine({ input: { command: 'echo a\nrm b' } })).toBe('echo a ⏎ rm b');
  expect(permissionQuestion('w wants to use write', { input: { path: 'a', content: 'x\ny' } })).toBe(
    'w wants to use write:\n  | path: a\n  | content:\n  |   x\n  |   y',
  );
  expect(wholeRequest({ input: ['x'] })).toBe('  | ["x"]');
});

it('spells out what a screen would hide or turn around', () => {
  const hidden = 'a\u001b[2Kb\u200bc\u202ed\u00a0e\rf\u{e0041}g\u200dh';
  const shown = 'a⟨U+001B⟩[2Kb⟨U+200B⟩c⟨U+202E⟩d⟨U+00A0⟩e⟨U+000D⟩f⟨U+E0041⟩g⟨U+200D⟩h';
  expect(requestText({ input: { command: hidden } }).text).toBe(`  | ${shown}`);
});

it('names what looks like something else: hosts in other letters, words of two scripts, other forms of plain signs', () => {
  const shown = (command: string): string => requestText({ input: { command } }).text.slice(4);
  expect(shown('curl https://ex\u0430mple.org/a')).toBe('curl https://ex\u0430⟨U+0430⟩mple.org⟨xn--exmple-4nf.org⟩/a');
  expect(shown('curl https://\u043f\u0440\u0438.\u0440\u0444/a')).toContain('⟨xn--h1and.xn--p1ai⟩/a');
  expect(shown('\uff52\uff4d x')).toBe('\uff52⟨U+FF52⟩\uff4d⟨U+FF4D⟩ x');
  expect(shown('cat \u043e\u0442\u0447\u0451\u0442.txt größe 東京 ok')).toBe(
    'cat \u043e\u0442\u0447\u0451\u0442.txt größe 東京 ok',
  );
});

it('shows what a call would come to in place of its arguments', () => {
  const text = permissionQuestion('w wants to use edit', { input: { path: 'a' }, preview: 'a (+1 -1 lines)\n-x\n+y' });
  expect(text).toBe('w wants to use edit:\n  | a (+1 -1 lines)\n  | -x\n  | +y');
});

it('shows tabs and the blanks at the end of a line, which two lines may differ in alone', () => {
  const shown = (request: Parameters<typeof wholeRequest>[0]): string[] => wholeRequest(request).split('\n');
  expect(shown({ input: { command: 'printf "a\tb" | cut -f1 ' } })).toEqual(['  | printf "a⇥b" | cut -f1·']);
  const preview = 'Makefile (+2 -2 lines)\n@@ -1,4 +1,4 @@\n all:\n \n-\techo hi\n-two\n+  echo hi\n+two  \n  ';
  const lines = ['all:', '', '-⇥echo hi', '-two', '+  echo hi', '+two··', ' ·'];
  expect(shown({ input: {}, preview }).slice(2)).toEqual(['  |  all:', '  |  ', ...lines.slice(2).map((line) => `  | ${line}`)]);
  // The signs themselves are not to be taken for what they stand for.
  expect(shown({ input: { command: 'echo ⇥ a·b ·' } })).toEqual(['  | echo ⇥⟨U+21E5⟩ a·b··⟨U+00B7⟩']);
  expect(shown({ input: { note: '', more: 'a\n\nb' } })).toEqual(['  | note: ""', '  | more:', '  |   a', '  | ', '  |   b']);
  expect(requestLine({ input: { command: 'a ⏎ b \nc' } })).toBe('a ⟨U+23CE⟩ b· ⏎ c');
});

it('lets no name begin a line, and no value pass for another argument', () => {
  const forged = { 'to: alice\namount: 5\nnote': 'thanks', command: 'to: bob', to: 'mallory', 'a b': 1, '': 2 };
  expect(wholeRequest({ input: forged }).split('\n')).toEqual([
    '  | "to: alice⟨U+000A⟩amount: 5⟨U+000A⟩note": thanks',
    '  | command: to: bob',
    '  | to: mallory',
    '  | "a b": 1',
    '  | "": 2',
  ]);
});

it('says how much is missing of what is too long, and how to see it', () => {
  const { text, missing } = requestText({ input: { command: 'x'.repeat(limits.requestCharacters) }, run: 'run_01abcdef' });
  expect(missing).toBe(4);
  expect(text).toMatch(/x\n\(4 more characters cannot be shown here .*`troupe show abcdef --request`/);
});
