/** Links that lead to where nobody looks: what stands there may be mended for the tests, and broken again after them. */
import { accessSync, constants, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { WatchedChange } from './watched-file.ts';
import { isNobodysOwn } from './workspace-files.ts';

/** The changes, with a doubt about each that left such a link; `watched` are the paths of files that are looked at. */
export function withLinksOut(
  root: string,
  changes: readonly WatchedChange[],
  watched: ReadonlyMap<string, unknown>,
): readonly WatchedChange[] {
  return changes.map((change) => {
    if (change.after === undefined || !leadsOut(root, change.path, watched)) return change;
    return { ...change, program: 'it is a link to where changes are not seen' };
  });
}

/** An interpreter in an environment of its own. */
const PYTHON = /^(?:python|pypy)[\d.]*$/;

function leadsOut(root: string, path: string, watched: ReadonlyMap<string, unknown>): boolean {
  const target = targetOf(join(root, path));
  if (target === undefined || (PYTHON.test(basename(path)) && PYTHON.test(basename(target)))) return false;
  const inside = relative(root, target).split(sep).join('/');
  if (inside === '' || watched.has(inside)) return false;
  const outside = inside === '..' || inside.startsWith('../');
  // What is not there yet may come to be there, and is seen then if it is one of the project's own.
  if (!outside && lstatSync(target, { throwIfNoEntry: false }) === undefined) return isNobodysOwn(inside, true);
  if (!outside && [...watched.keys()].some((one) => one.startsWith(`${inside}/`))) return false;
  return mayWrite(target) || mayWrite(dirname(target));
}

function targetOf(path: string): string | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined;
  } catch {
    return undefined;
  }
  try {
    return realpathSync(path);
  } catch {
    return resolve(dirname(path), readlinkSync(path));
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
