/**
 * Which worker is meant. A name is taken exactly, then without regard to spelling marks, then by the words it shares with
 * the only worker that has them, then as a slip of the pen (`testr`) for the only worker it is near to: never a guess between
 * two, and never another number, so that `worker-1` does not get the task of `worker-10`.
 */
import { nearest } from '../../base/did-you-mean.ts';

/** The name at the beginning of a line and what follows it: the longest known name, else what is quoted, else the first word. */
export function splitName(marked: string, workers: readonly string[]): { readonly name: string; readonly rest: string } {
  const line = marked.normalize('NFC').trim();
  const quoted = /^(["'`])(.{1,200}?)\1(.*)$/.exec(line);
  if (quoted !== null) return { name: quoted[2] ?? '', rest: afterName(quoted[3] ?? '') };
  const known = workers
    .filter((name) => sameName(line.slice(0, name.length), name) && BOUNDARY.test(line.slice(name.length)))
    .sort((left, right) => right.length - left.length)[0];
  if (known !== undefined) return { name: line.slice(0, known.length), rest: afterName(line.slice(known.length)) };
  const whole = line.length <= WHOLE_LINE && made(line, workers, isPartOf);
  if (typeof whole === 'string') return { name: whole, rest: '' };
  const first = /^\S*/.exec(line)?.[0] ?? '';
  return { name: first.slice(0, LONGEST).replace(/(?:\*\*|__|[:,;])+$/, ''), rest: afterName(line.slice(first.length)) };
}

const WHOLE_LINE = 80;
const LONGEST = 200;
/** What may follow a name that is not the beginning of a longer one. */
const BOUNDARY = /^(?:$|\s|[:,;*"`)\]]|__|[.!](?:\s|$))/;
const afterName = (text: string): string => text.replace(/^(?:\*\*|__)?[:,;]?(?:\*\*|__)?\s*/, '');

const plain = (name: string): string => name.normalize('NFC').toLowerCase();
const sameName = (left: string, right: string): boolean => plain(left) === plain(right);
const letters = (name: string): string => plain(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
const numbers = (name: string): string => (name.match(/\p{N}+/gu) ?? []).join(' ');
const words = (name: string): string[] =>
  plain(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

export function findWorker(name: string, workers: readonly string[]): string | undefined {
  const exact = workers.filter((worker) => worker.normalize('NFC') === name.normalize('NFC'));
  if (exact.length === 1) return exact[0];
  const same = workers.filter((worker) => sameName(worker, name));
  if (same.length > 0) return same.length === 1 ? same[0] : undefined;
  return (
    made(name, workers, (one, other) => letters(one) === letters(other)) ??
    made(name, workers, (one, other) => isPartOf(one, other) || isPartOf(other, one)) ??
    made(name, workers, (one, other) => nearest(one, [other]) !== undefined)
  );
}

const SHORTEST = 3;

/** The only worker that is like the name; two that are like it are none. */
function made(name: string, workers: readonly string[], alike: (name: string, worker: string) => boolean): string | undefined {
  if (letters(name).length < SHORTEST) return undefined;
  const found = workers.filter((worker) => numbers(worker) === numbers(name) && alike(name, worker));
  return found.length === 1 ? found[0] : undefined;
}

/** `security` is made of words of `Security Auditor`. */
function isPartOf(name: string, other: string): boolean {
  const theirs = words(other);
  const mine = words(name);
  return mine.length > 0 && mine.every((word) => theirs.includes(word));
}
