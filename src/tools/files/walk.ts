/**
 * Walks a folder of the workspace in name order without following links. The number of entries looked at is bounded, and
 * folders that hold nothing of the project's own are passed over.
 */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { holdFolder } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import type { InsidePath } from './workspace.ts';

export interface WalkedEntry {
  readonly absolute: string;
  /** Relative to the workspace. */
  readonly relative: string;
  readonly kind: 'file' | 'folder' | 'other';
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  readonly recursive: boolean;
  /** Also go into `.git` and `node_modules`. */
  readonly everything: boolean;
  /** What is not even shown. */
  hidden(absolute: string): boolean;
}

const NAMES_AT_ONCE = 1_024;
const IGNORED = new Set(['.git', 'node_modules']);

/** Ends early, with `cut: true`, at the limit `walkEntries`. */
export async function* walk(start: InsidePath, options: WalkOptions): AsyncGenerator<WalkedEntry, { readonly cut: boolean }> {
  const open: WalkedEntry[] = [{ absolute: start.absolute, relative: start.relative, kind: 'folder' }];
  let seen = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (next === undefined || options.signal.aborted) break;
    if (next.relative !== start.relative) yield next;
    if (next.kind !== 'folder' || (next.relative !== start.relative && !options.recursive)) continue;
    const entries = await childrenOf(start.root, next, options);
    seen += entries.length;
    if (seen > limits.walkEntries) return { cut: true };
    for (const entry of entries.reverse()) open.push(entry);
  }
  return { cut: options.signal.aborted };
}

/** A folder that cannot be read is shown but not entered; of one with too many entries no more are read than count. */
async function childrenOf(root: string, folder: WalkedEntry, { everything, hidden }: WalkOptions): Promise<WalkedEntry[]> {
  const children: WalkedEntry[] = [];
  try {
    using held = holdFolder({ root, absolute: folder.absolute });
    for await (const entry of await opendir(held.at('.'), { bufferSize: NAMES_AT_ONCE })) {
      const { name } = entry;
      const absolute = join(folder.absolute, name);
      if ((!everything && IGNORED.has(name)) || hidden(absolute)) continue;
      children.push({
        absolute,
        relative: folder.relative === '' ? name : `${folder.relative}/${name}`,
        kind: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other',
      });
      if (children.length > limits.walkEntries) break;
    }
  } catch {
    return [];
  }
  return children.sort((left, right) => (left.relative < right.relative ? -1 : 1));
}
