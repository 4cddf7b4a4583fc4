/**
 * Which files a task may write, and whether two tasks could write the same. Paths as packages have them: `cmd/` is a folder,
 * `docs/x.md` a file (or a folder of that name), `src/*.ts` and `**\/*.md` are patterns; all from the top of the repository.
 *
 * What is allowed is read narrowly, what is forbidden widely: `docs/` forbids `DOCS/x` too, since on some disks they are the same
 * file, and allows only `docs/x`. Whether two overlap is decided so that a "no" is certain.
 */
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { expandBraces, matchName, matchParts } from '../tools/files/glob.ts';
import type { DomainPaths } from './port.ts';

/** A pattern, cut at its slashes. */
type Parts = readonly string[];

export interface Domain {
  readonly paths: DomainPaths;
  readonly include: readonly Parts[];
  /** What is excluded or not to be touched, folded. */
  readonly closed: readonly { readonly parts: Parts; readonly why: string }[];
}

const REST = '**';
const WILD = /[*?]/;
/** The state of the project and of git is nobody's to write, in any folder. */
const STATE: readonly Parts[] = ['.git', '.troupe'].flatMap((name) => [
  [REST, name],
  [REST, name, REST],
]);

/** Everything may be written. */
export const WHOLE: DomainPaths = { include: [], exclude: [], noTouch: [] };

export function readDomain(paths: DomainPaths): Result<Domain, Failure> {
  const count = paths.include.length + paths.exclude.length + paths.noTouch.length;
  if (count > limits.domainPaths)
    return fail(badPath(`A domain of ${count} paths is more than ${limits.domainPaths} (domainPaths).`));
  const include: Parts[] = [];
  const closed: { parts: Parts; why: string }[] = STATE.map((parts) => ({ parts, why: 'it is state of git or of the project' }));
  for (const [name, list] of Object.entries({ include: paths.include, exclude: paths.exclude, noTouch: paths.noTouch })) {
    for (const path of list) {
      const read = readPath(path, name === 'include');
      if (!read.ok) return read;
      if (name === 'include') include.push(...read.value);
      else for (const parts of read.value) closed.push({ parts: parts.map(folded), why: `${SAID[name] ?? name} has ${path}` });
    }
  }
  return ok({ paths, include: paths.include.length === 0 ? [[REST]] : include, closed });
}

const SAID: Readonly<Record<string, string>> = { exclude: 'exclude_paths', noTouch: 'no_touch' };

/** Signs that some disks pass over in names. */
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Two names that some disk takes for one are the same word. */
function folded(text: string): string {
  return text.replace(PASSED_OVER, '').normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

function readPath(given: string, narrow: boolean): Result<readonly Parts[], Failure> {
  const shown = JSON.stringify(given.slice(0, 200));
  if (given.trim() === '' || given.length > limits.pathCharacters) return fail(badPath(`${shown} is no path of a domain.`));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  if (/[\\\u0000-\u001f]/.test(given)) return fail(badPath(`The path ${shown} holds a sign that no path of a domain may hold.`));
  if (given.startsWith('/') || given.startsWith('~') || /^[A-Za-z]:/.test(given))
    return fail(badPath(`The path ${shown} does not begin at the top of the repository.`));
  const read: Parts[] = [];
  for (const one of expandBraces(given.normalize('NFC'))) {
    const parts = one.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) return fail(badPath(`The path ${shown} leads out of the repository.`));
    if (/\{[^{}]*,/.test(one)) return fail(badPath(`The path ${shown} can be read in too many ways.`));
    if (parts.length === 1 && WILD.test(parts[0] ?? '') && !one.includes('/')) parts.unshift(REST);
    if (!one.endsWith('/') && parts.length > 0) read.push(parts);
    // `*.ts` allows files of that name, and forbids folders too.
    if (!narrow || one.endsWith('/') || !WILD.test(parts.at(-1) ?? '') || parts.at(-1) === REST) read.push([...parts, REST]);
  }
  return ok(read);
}

const badPath = (message: string): Failure => ({
  code: 'bad_domain',
  message,
  fix: 'Name folders as docs/, files as docs/x.md, patterns as lib/**/*.ts.',
});

/** Why a path must not be written; `undefined` when it may. */
export function closedBy({ include, closed }: Domain, path: string): string | undefined {
  const parts = path.normalize('NFC').split('/');
  const wide = folded(path).split('/');
  const hit = closed.find((one) => matchParts(one.parts, wide));
  if (hit !== undefined) return hit.why;
  return include.some((one) => matchParts(one, parts)) ? undefined : 'include_paths does not have it';
}

/** A pair of paths that both could write, as a reason; `undefined` when there certainly is none. */
export function overlapOf(one: Domain, other: Domain): string | undefined {
  for (const mine of one.include) {
    if (isCovered(mine, other)) continue;
    for (const theirs of other.include)
      if (!isCovered(theirs, one) && meet(mine.map(folded), theirs.map(folded), 0, 0)) return pairText(mine, theirs);
  }
  return undefined;
}

function pairText(mine: Parts, theirs: Parts): string {
  const [left, right] = [mine.join('/'), theirs.join('/')];
  return left === right ? left : `${left} and ${right}`;
}

/** Whether all that the pattern stands for is closed to the other: only where that is plain. */
function isCovered(pattern: Parts, { closed }: Domain): boolean {
  const wide = pattern.map(folded);
  return closed.some(({ parts }) => {
    const ends = parts.at(-1) === REST;
    const plain = ends ? parts.slice(0, -1) : parts;
    if (plain.some((part) => WILD.test(part))) return false;
    // `docs/**` also stands for `docs` itself.
    if (!ends) return wide.length === plain.length && plain.every((part, at) => wide[at] === part);
    return wide.length >= plain.length && plain.every((part, at) => wide[at] === part);
  });
}

/** Whether some path could fit both: every pair of places in the two patterns is looked at once. */
function meet(left: Parts, right: Parts, at: number, on: number, seen = new Set<string>()): boolean {
  const [mine, theirs, here] = [left[at], right[on], `${at} ${on}`];
  if (mine === undefined && theirs === undefined) return true;
  if (seen.has(here)) return false;
  seen.add(here);
  if (mine === REST) return meet(left, right, at + 1, on, seen) || (theirs !== undefined && meet(left, right, at, on + 1, seen));
  if (theirs === REST) return meet(left, right, at, on + 1, seen) || (mine !== undefined && meet(left, right, at + 1, on, seen));
  if (mine === undefined || theirs === undefined) return false;
  return namesMeet(mine, theirs) && meet(left, right, at + 1, on + 1, seen);
}

function namesMeet(left: string, right: string): boolean {
  if (!WILD.test(left)) return matchName(right, left);
  if (!WILD.test(right)) return matchName(left, right);
  // Both may be many names: certainly none in common only where they begin or end differently.
  const begins = fits(left.search(WILD), right.search(WILD), (length) => left.slice(0, length) === right.slice(0, length));
  const [leftEnd, rightEnd] = [tail(left), tail(right)];
  return begins && fits(leftEnd.length, rightEnd.length, (length) => leftEnd.endsWith(rightEnd.slice(rightEnd.length - length)));
}

const fits = (left: number, right: number, same: (length: number) => boolean): boolean => same(Math.min(left, right));

const tail = (name: string): string => /[^*?]*$/.exec(name)?.[0] ?? '';
