/**
 * A folder of a workspace that is held open while something is done in it. Whoever works there may put a link where a folder was
 * between the moment a path is looked at and the moment it is used; what is done through the folder itself is done there,
 * whatever the path leads to by then. All who read or write where somebody else may change the tree meanwhile go this way.
 *
 * On Linux the folders of the path are opened one by one, none of them by way of a link, and the last is named by its descriptor.
 * macOS refuses a path with any link in it as it is opened, and has no name for an open folder; other systems have neither, and
 * there the path is looked at once more. docs/sandbox.md says what that leaves open.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { codeOf, messageOf } from '../errors.ts';

/** A real path, and the real path of the workspace that it lies in. */
export interface PathBelow {
  readonly root: string;
  readonly absolute: string;
}

export interface HeldFolder extends Disposable {
  /** The path of an entry by way of the folder itself; links in the entry are for whoever opens it not to follow. */
  at(name: string): string;
}

/** Linux only: to hold a folder, not to read it; Node has no name for it. */
const O_PATH = 0o10_000_000;
/** macOS only: no link in any part of a path. */
const O_NOFOLLOW_ANY = 0x2000_0000;

const isLinux = process.platform === 'linux';
const isMac = process.platform === 'darwin';

/** With what a file is opened that must not be a link. */
export const NO_LINK = constants.O_NOFOLLOW | (isMac ? O_NOFOLLOW_ANY : 0);

const FOLDER = constants.O_DIRECTORY | NO_LINK | (isLinux ? O_PATH : constants.O_RDONLY);

/** The folder that a path lies in, and the name of the path there; of the workspace itself it is `.`. */
export function holdParent(path: PathBelow, make = false): HeldFolder & { readonly entry: string } {
  const isRoot = path.absolute === path.root;
  const folder = holdFolder({ root: path.root, absolute: isRoot ? path.root : dirname(path.absolute) }, make);
  return { ...folder, entry: folder.at(isRoot ? '.' : basename(path.absolute)) };
}

/** Whether anything is there, a link too. What cannot be looked at is not said to be missing. */
export function isThere(path: PathBelow): boolean {
  try {
    using parent = holdParent(path);
    return lstatSync(parent.entry, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

/** What went wrong, without the names that only this process knows. */
export const heldMessage = (error: unknown): string => messageOf(error).replaceAll(/\/proc\/self\/fd\/\d+\//g, '');

/**
 * Throws as the system does: `ENOENT` where there is none, `ENOTDIR` or `ELOOP` where a part of the path is a link or no folder.
 * `make`: folders that are missing are made.
 */
export function holdFolder({ root, absolute }: PathBelow, make = false): HeldFolder {
  const parts = relative(root, absolute).split(sep).filter(Boolean);
  if (parts[0] === '..') throw replaced(absolute);
  return isLinux ? heldByDescriptor(root, absolute, parts, make) : heldByPath(root, absolute, make);
}

function heldByDescriptor(root: string, absolute: string, parts: readonly string[], make: boolean): HeldFolder {
  let held = openSync(root, FOLDER);
  try {
    for (const part of parts) {
      const next = through(held, part);
      if (make) makeFolder(next);
      const below = openSync(next, FOLDER);
      closeSync(held);
      held = below;
    }
    // The folders above the workspace were looked at, too, when its real path was.
    if (!isPlace(readlinkSync(`/proc/self/fd/${held}`, 'buffer'), root, absolute)) throw replaced(absolute);
  } catch (error) {
    closeSync(held);
    throw error;
  }
  return { at: (name) => through(held, name), [Symbol.dispose]: () => closeSync(held) };
}

/** Where an open file lies. */
export function realPlaceOf(file: number, path: string): string {
  return isLinux ? readlinkSync(`/proc/self/fd/${file}`) : realpathSync(path);
}

const through = (held: number, name: string): string => `/proc/self/fd/${held}/${name}`;

/** File systems that do not tell cases apart give the name as it was written when it was made. */
function isPlace(found: Buffer, root: string, absolute: string): boolean {
  const path = found.toString();
  if (path === absolute) return true;
  return path.startsWith(root + sep) && folded(root, path) === folded(root, absolute);
}

const folded = (root: string, path: string): string => relative(root, path).normalize('NFKC').toLowerCase();

function heldByPath(root: string, absolute: string, make: boolean): HeldFolder {
  if (make) mkdirSync(absolute, { recursive: true });
  const held = openSync(absolute, FOLDER);
  try {
    if (!isPlace(Buffer.from(realpathSync(absolute)), root, absolute)) throw replaced(absolute);
  } catch (error) {
    closeSync(held);
    throw error;
  }
  return { at: (name) => join(absolute, name), [Symbol.dispose]: () => closeSync(held) };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function replaced(path: string): Error {
  return Object.assign(new Error(`${path} leads somewhere else now`), { code: 'ELOOP' });
}
