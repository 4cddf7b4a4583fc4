/**
 * A small view of an artifact. Of a text its beginning, cut after secrets were taken out, so that no half of one is left. Of an
 * image the image itself, when it is small, or a thumbnail, when it is of a kind that can be read without a decoder of its own;
 * of others there is none, and nothing pretends to be one.
 */
import { limits } from '../base/limits.ts';
import type { ArtifactType } from '../events/evidence.ts';
import { boundaryBefore, omission } from '../tools/bounded.ts';
import { imageKind } from './image-kind.ts';
import { pngThumbnail } from './png-thumbnail.ts';

export interface PreviewOf {
  readonly type: ArtifactType;
  readonly name: string;
  readonly bytes: number;
  readonly text: boolean;
  /** The first part as it is stored: without secrets. */
  readonly first: Uint8Array;
  /** The first part is all of it. */
  readonly whole: boolean;
}

export interface Preview {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export function previewOf({ type, name, bytes, text, first, whole }: PreviewOf): Preview | undefined {
  const dot = name.lastIndexOf('.');
  const stem = dot > 0 ? name.slice(0, dot) : name;
  if (type === 'image') {
    const kind = imageKind(first);
    if (kind === undefined || !whole) return undefined;
    if (bytes <= limits.artifactThumbnailBytes) return { name: `${stem}.${kind.ending}`, bytes: first };
    const small = pngThumbnail(first);
    return small === undefined ? undefined : { name: `${stem}.png`, bytes: small };
  }
  // What is as small as a preview is one.
  if (!text || bytes <= limits.artifactPreviewBytes) return undefined;
  return { name: `${stem}.txt`, bytes: textHead(first, bytes) };
}

function textHead(first: Uint8Array, bytes: number): Uint8Array {
  const note = Buffer.from(omission(bytes));
  const room = limits.artifactPreviewBytes - note.length;
  const head = first.subarray(0, boundaryBefore(first, room));
  return Buffer.concat([head, Buffer.from(omission(bytes - head.length))]);
}
