/** What lies at a path of a workspace in which others may be at work, by way of its folder, held open: no link is followed. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors.ts';
import { type HeldFolder, holdFolder, holdParent, NO_LINK, type PathBelow, realPlaceOf } from './held-folder.ts';

export type EntryBelow =
  | { readonly kind: 'file'; readonly facts: Stats; readonly bytes: Buffer }
  /** A file with more bytes than were asked for. */
  | { readonly kind: 'large'; readonly facts: Stats }
  | { readonly kind: 'link'; readonly facts: Stats; readonly target: Buffer }
  | { readonly kind: 'folder' | 'other'; readonly facts: Stats };

const NOTHING: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** `undefined`: there is nothing, or it lies behind a link. Throws where it cannot be read. */
export function entryBelow(path: PathBelow, maxBytes = Number.POSITIVE_INFINITY): EntryBelow | undefined {
  return orNothing(() => {
    using parent = holdParent(path);
    return entryAt(parent.entry, maxBytes);
  });
}

/** Whose folder is held. */
export function entryAt(entry: string, maxBytes: number): EntryBelow | undefined {
  const facts = lstatSync(entry, { throwIfNoEntry: false });
  if (facts === undefined) return undefined;
  if (facts.isSymbolicLink()) return { kind: 'link', facts, target: readlinkSync(entry, 'buffer') };
  if (!facts.isFile()) return { kind: facts.isDirectory() ? 'folder' : 'other', facts };
  return contentAt(entry, maxBytes);
}

/** It may be something else by now than it was when it was looked at: a pipe is not waited for. */
function contentAt(entry: string, maxBytes: number): EntryBelow {
  const file = openSync(entry, constants.O_RDONLY | NO_LINK | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return { kind: facts.isDirectory() ? 'folder' : 'other', facts };
    return facts.size > maxBytes ? { kind: 'large', facts } : { kind: 'file', facts, bytes: readFileSync(file) };
  } finally {
    closeSync(file);
  }
}

/** A file by way of all links, and where it really lies. */
export function followed(path: string): { readonly bytes: Buffer; readonly real: string } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { real: realPlaceOf(file, path), bytes: fstatSync(file).isFile() ? readFileSync(file) : Buffer.alloc(0) };
  } finally {
    closeSync(file);
  }
}

export function orNothing<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (NOTHING.has(codeOf(error))) return undefined;
    throw error;
  }
}

/** The folders of many paths, one after another: the last one stays open until another is asked for. */
export interface FoldersBelow extends Disposable {
  /** Throws as `holdFolder` does. */
  entry(path: string): string;
}

export function foldersBelow(root: string): FoldersBelow {
  let last: { readonly folder: string; readonly held: HeldFolder } | undefined;
  const letGo = (): void => {
    last?.held[Symbol.dispose]();
    last = undefined;
  };
  return {
    entry(path) {
      const folder = dirname(path);
      if (last?.folder !== folder) {
        letGo();
        last = { folder, held: holdFolder({ root, absolute: join(root, folder) }) };
      }
      return last.held.at(path.slice(folder === '.' ? 0 : folder.length + 1));
    },
    [Symbol.dispose]: letGo,
  };
}
