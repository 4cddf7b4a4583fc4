/**
 * What an agent may be called. Spaces and every script are fine; what would break a path, a line or the reader's eye is not:
 * `/`, control characters, line separators, marks that turn the direction of text, a dot in front.
 */
import { PERSON } from '../../base/person.ts';

const LENGTH_MAX = 200;

/** What is wrong with the name; `undefined` when it is fine. */
export function nameProblem(name: string): string | undefined {
  if (name.length === 0) return 'is empty';
  if (name.length > LENGTH_MAX) return `is longer than ${LENGTH_MAX} characters`;
  if (name.trim() !== name) return 'starts or ends with a space';
  if (name.startsWith('.')) return 'starts with a dot';
  if (name.normalize('NFKC').toLowerCase() === PERSON) return 'is what the person at the keyboard is called';
  if (/[/\\]/.test(name)) return 'contains a slash';
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufeff]/u.test(name)) return 'contains a control character';
  return undefined;
}

/** The name that a file gives its agent when it does not say one itself. The path has forward slashes. */
export function nameFromFile(path: string): string {
  const file = path.split('/').at(-1) ?? path;
  return file.replace(/\.md$/i, '').normalize('NFC');
}
