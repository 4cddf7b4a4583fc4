/**
 * Path patterns: `*` and `?` within a name, `**` for any number of folders, `{a,b}` for alternatives. Matching takes time
 * proportional to pattern times path, whatever the pattern, so a model's pattern cannot stall the process.
 */

const ALTERNATIVES_MAX = 64;

/** Matches whole relative paths with `/` between the parts. A pattern without `/` matches the last part in any folder. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const cleaned = pattern.replace(/^\.\//, '').replace(/\/+$/, '/**');
  const patterns = expandBraces(cleaned).map((one) => (one.includes('/') ? one : `**/${one}`).split('/'));
  return (path) => {
    const parts = path.split('/');
    return patterns.some((wanted) => matchParts(wanted, parts));
  };
}

/** Every way to read `{a,b}`. Beyond a number of ways the rest stays as it is written. */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0 && done.length + open.length <= ALTERNATIVES_MAX) {
    const next = open.pop() ?? '';
    const found = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (found === null) {
      done.push(next);
      continue;
    }
    const [whole, inner = ''] = found;
    for (const choice of inner.split(','))
      open.push(next.slice(0, found.index) + choice + next.slice(found.index + whole.length));
  }
  return [...done, ...open];
}

/** `**` matches any number of parts. The latest one takes the slack, as in `matchName`. */
export function matchParts(pattern: readonly string[], parts: readonly string[]): boolean {
  return matchWithStars(
    pattern.length,
    parts.length,
    (index) => pattern[index] === '**',
    (index, at) => matchName(pattern[index] ?? '', parts[at] ?? ''),
  );
}

/** `*` and `?` within a name. */
export function matchName(pattern: string, name: string): boolean {
  return matchWithStars(
    pattern.length,
    name.length,
    (index) => pattern[index] === '*',
    (index, at) => pattern[index] === '?' || pattern[index] === name[at],
  );
}

/** Wildcard matching without recursion: on a mismatch only the latest star is tried again, one item longer. */
function matchWithStars(
  patternLength: number,
  length: number,
  isStar: (index: number) => boolean,
  matches: (index: number, at: number) => boolean,
): boolean {
  let index = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < length) {
    if (index < patternLength && isStar(index)) {
      star = index;
      starAt = at;
      index += 1;
    } else if (index < patternLength && matches(index, at)) {
      index += 1;
      at += 1;
    } else if (star >= 0) {
      starAt += 1;
      at = starAt;
      index = star + 1;
    } else return false;
  }
  while (index < patternLength && isStar(index)) index += 1;
  return index === patternLength;
}
