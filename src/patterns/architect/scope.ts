/**
 * What a task is about, in paths: which it may change, which of these it may not, and whether two tasks could get into each
 * other's way. A path stands for itself and for all below it; `.` stands for the whole folder.
 */
export interface TaskScope {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly noTouch: readonly string[];
}

/** The path in the one form that paths are compared in; or why it cannot be one of a task's. */
export function normalPath(path: string): { readonly path: string } | { readonly problem: string } {
  const said = JSON.stringify(path);
  if (path.trim() === '') return { problem: 'a path is empty' };
  if (path.includes('\0') || path.includes('\n')) return { problem: `${said} is no path` };
  if (/[*?[\]{}]/.test(path)) return { problem: `${said} is a pattern: name files and folders, which stand for all below them` };
  const slashed = path.replaceAll('\\', '/');
  if (slashed.startsWith('/') || /^[a-z]:/i.test(slashed) || slashed.startsWith('~'))
    return { problem: `${said} is not relative to the workspace` };
  const parts = slashed.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return { problem: `${said} leads out of the workspace` };
  if (parts[0] === '.git') return { problem: `${said} is git's own` };
  if (parts.length === 0) return { path: '.' };
  return { path: `${parts.join('/')}${slashed.endsWith('/') ? '/' : ''}` };
}

const bare = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

/** Whether all that `inner` stands for is among what `outer` stands for. */
export function coversPath(outer: string, inner: string): boolean {
  if (bare(outer) === '.') return true;
  return bare(inner) === bare(outer) || bare(inner).startsWith(`${bare(outer)}/`);
}

const coveredBy = (paths: readonly string[], path: string): boolean => paths.some((one) => coversPath(one, path));

/** Whether two tasks may change one and the same file. Case is not told apart: some file systems do not. */
export function overlap(left: TaskScope, right: TaskScope): boolean {
  return left.include.some((one) => right.include.some((other) => meet(one, left, other, right)));
}

function meet(one: string, left: TaskScope, other: string, right: TaskScope): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (!coversPath(a, b) && !coversPath(b, a)) return false;
  // Where they meet is the deeper of the two: nobody is in the way of a task that may not go there.
  const deeper = coversPath(a, b) ? b : a;
  const closed = [...left.exclude, ...left.noTouch, ...right.exclude, ...right.noTouch].map((path) => path.toLowerCase());
  return !coveredBy(closed, deeper);
}

/** Whether a task is about nothing that the earlier one was not about. */
export function isWithinScope(scope: TaskScope, before: TaskScope): boolean {
  const closed = [...scope.exclude, ...scope.noTouch];
  return (
    scope.include.every((path) => coveredBy(before.include, path)) &&
    [...before.exclude, ...before.noTouch].every(
      (path) => coveredBy(closed, path) || !scope.include.some((one) => coversPath(one, path) || coversPath(path, one)),
    )
  );
}

/** Whether a task that does another one again is about less than that one was. */
export function smaller(scope: TaskScope, before: TaskScope): boolean {
  return isWithinScope(scope, before) && !isWithinScope(before, scope);
}
