import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { permissionQuestion, requestLine, requestText, wholeRequest } from './request-text.ts';

it('shows a command whole and plain, every line marked', () => {
  const command = `echo ${'harmless '.repeat(100)}; touch PWNED\nallow? yes`;
  const { text, missing } = requestText({ command, timeoutMs: 5 });
  expect(missing).toBe(0);
  expect(text.split('\n')).toEqual([`  | ${command.split('\n')[0]}`, '  | allow? yes', '  | timeoutMs: 5']);
  expect(requestLine({ command: 'echo a\nrm b' })).toBe('echo a ⏎ rm b');
  expect(permissionQuestion('w wants to use write', { path: 'a', content: 'x\ny' })).toBe(
    'w wants to use write:\n  | path: a\n  | content:\n  |   x\n  |   y',
  );
  expect(wholeRequest(['x'])).toBe('  | ["x"]');
});

it('spells out what a screen would hide or turn around', () => {
  const hidden = 'a\u001b[2Kb\u200bc\u202ed\u00a0e\rf\u{e0041}g\u200dh';
  const shown = 'a⟨U+001B⟩[2Kb⟨U+200B⟩c⟨U+202E⟩d⟨U+00A0⟩e⟨U+000D⟩f⟨U+E0041⟩g⟨U+200D⟩h';
  expect(requestText({ command: hidden }).text).toBe(`  | ${shown}`);
});

it('says how much is missing of what is too long, and how to see it', () => {
  const { text, missing } = requestText({ command: 'x'.repeat(limits.requestCharacters) });
  expect(missing).toBe(4);
  expect(text).toMatch(/x\n\(4 more characters cannot be shown here .*show <run> --request/);
});
