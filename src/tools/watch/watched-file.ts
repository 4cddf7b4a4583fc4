/** What comparing knows of one file, before and after. */
import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { entryBelow, orNothing } from '../../base/files/entry-below.ts';
import { limits } from '../../base/limits.ts';
import { decodeUtf8, looksBinary } from '../files/file-content.ts';

export interface WatchedFile {
  readonly sha256: string;
  readonly executable: boolean;
  /** Present while the text is kept for diffs; absent for what is large, binary or no file. */
  readonly text?: string | undefined;
  readonly binary: boolean;
}

export interface WatchedChange {
  readonly path: string;
  readonly before: WatchedFile | undefined;
  readonly after: WatchedFile | undefined;
  /** It is run by its name and was replaced, not by installing: what is wrong about it. */
  readonly program?: string | undefined;
}

/** The same as a look at the folder knows of it; `undefined` where there is no file, or it lies behind a link. */
export function fileAt(root: string, path: string): WatchedFile | undefined {
  try {
    const real = orNothing(() => realpathSync(root));
    const found = real === undefined ? undefined : entryBelow({ root: real, absolute: join(real, path) });
    if (found === undefined || found.kind === 'folder') return undefined;
    const executable = (found.facts.mode & 0o111) !== 0;
    if (found.kind === 'link') return watchedContent(found.target, { executable, link: true });
    if (found.kind !== 'file') return { executable, binary: true, sha256: 'special' };
    return watchedContent(found.bytes, { executable, link: false });
  } catch {
    return { executable: false, binary: true, sha256: 'unreadable' };
  }
}

export function watchedContent(
  bytes: Buffer,
  { executable, link }: { readonly executable: boolean; readonly link: boolean },
): WatchedFile {
  if (link) return { executable, binary: true, sha256: linkHash(bytes.toString()) };
  const binary = looksBinary(bytes);
  const text = !binary && bytes.length <= limits.fingerprintTextBytes ? decodeUtf8(bytes) : undefined;
  return { executable, binary, sha256: hash('sha256', bytes), text };
}

export const linkHash = (target: string): string => hash('sha256', `link ${target}`);
