/**
 * Which recorded change wrote each line of a file. Changes are applied one after the other: a change that begins where the one
 * before ended says exactly which of its lines are new and which were there. Where something is missing in between, because
 * somebody changed the file and nobody saw it, what was known before is held against the text of the file, and a line that fits
 * is said to come from there, but not for certain.
 */
import { hunksIn, lineEdits } from '../../tools/files/line-diff.ts';

/** A change as it was recorded. */
export interface LineChange {
  /** The SHA-256 before and after; `null` where there was no file. */
  readonly before: string | null;
  readonly after: string | null;
  readonly added: number;
  readonly removed: number;
  /** All of its lines, or as much of them as was kept. */
  readonly diff: string;
}

export interface LineOrigin<Change> {
  readonly change: Change;
  /** Every change since then is known. */
  readonly certain: boolean;
}

/** What is known of the lines of one version; beyond the end of the lists nothing is. */
interface Version<Change> {
  readonly sha256: string | null;
  readonly texts: readonly (string | undefined)[];
  readonly changes: readonly (Change | undefined)[];
}

/** `lines` are those of the file as it is now, `sha256` is its checksum. A line that nobody recorded has no origin. */
export function lineOrigins<Change extends LineChange>(
  changes: readonly Change[],
  lines: readonly string[],
  sha256: string,
): readonly (LineOrigin<Change> | undefined)[] {
  const versions = versionsOf(changes);
  const newest = versions.at(-1);
  if (newest === undefined) return lines.map(() => undefined);
  if (newest.sha256 === sha256) {
    const exact = lines.map((_line, index) => ofLine(newest.changes[index], true));
    return fromOlder(exact, lines, versions.slice(0, -1));
  }
  return fromOlder(
    lines.map(() => undefined),
    lines,
    versions,
  );
}

const ofLine = <Change>(change: Change | undefined, certain: boolean): LineOrigin<Change> | undefined =>
  change === undefined ? undefined : { change, certain };

/** Lines without an origin are looked for in what was known earlier, the newest first. */
function fromOlder<Change>(
  known: readonly (LineOrigin<Change> | undefined)[],
  lines: readonly string[],
  versions: readonly Version<Change>[],
): readonly (LineOrigin<Change> | undefined)[] {
  return versions.toReversed().reduce<readonly (LineOrigin<Change> | undefined)[]>((found, version) => {
    const open = found.flatMap((origin, index) => (origin === undefined ? [index] : []));
    if (open.length === 0) return found;
    const here = open.map((index) => lines[index] ?? '');
    const matched = alignedWith(version, here);
    const byLine = new Map(open.map((index, place) => [index, matched[place]]));
    return found.map((origin, index) => origin ?? ofLine(byLine.get(index), false));
  }, known);
}

/** For each of these lines the change that wrote the same line there, in the same order. */
function alignedWith<Change>({ texts, changes }: Version<Change>, lines: readonly string[]): readonly (Change | undefined)[] {
  // What is not known fits no line of a file: none has this mark in it.
  const left = texts.map((text, index) => text ?? `\u0000${index}`);
  const found: (Change | undefined)[] = [];
  let at = 0;
  for (const { kind } of lineEdits(left, lines)) {
    if (kind === '+') found.push(undefined);
    else {
      if (kind === ' ') found.push(changes[at]);
      at += 1;
    }
  }
  return found;
}

/** The versions after which something is missing, and the last one. */
function versionsOf<Change extends LineChange>(changes: readonly Change[]): readonly Version<Change>[] {
  const versions: Version<Change>[] = [];
  for (const change of changes) {
    const before = versions.at(-1);
    const follows = before !== undefined && change.before !== null && before.sha256 === change.before;
    const base: Version<Change> = follows ? before : { sha256: change.before, texts: [], changes: [] };
    if (follows) versions.pop();
    versions.push(applied(base, change));
  }
  return versions;
}

function applied<Change extends LineChange>(base: Version<Change>, change: Change): Version<Change> {
  const sha256 = change.after;
  const hunks = hunksIn(change.diff);
  const edits = hunks.flatMap((hunk) => hunk.edits);
  const count = (kind: string): number => edits.filter((edit) => edit.kind === kind).length;
  if (count('+') !== change.added || count('-') !== change.removed || hunks.length === 0) {
    // Not all of it was kept. Of a new file every line is its own all the same.
    const own = change.before === null ? Array.from({ length: change.added }, () => change) : [];
    return { sha256, texts: [], changes: own };
  }
  const texts: (string | undefined)[] = [];
  const changes: (Change | undefined)[] = [];
  let at = 0;
  const keep = (text?: string): void => {
    texts.push(text ?? base.texts[at]);
    changes.push(base.changes[at]);
    at += 1;
  };
  for (const { start, edits: own } of hunks) {
    while (texts.length < start) keep();
    for (const { kind, line } of own) {
      if (kind === '+') {
        texts.push(line);
        changes.push(change);
      } else if (kind === ' ') keep(line);
      else at += 1;
    }
  }
  while (at < base.texts.length || at < base.changes.length) keep();
  return { sha256, texts, changes };
}
