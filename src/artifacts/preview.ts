/**
 * A small view of an artifact. Of a text its beginning, cut after secrets were taken out, so that no half of one is left. Of an
 * image the image itself, when it is small, or a thumbnail; where that cannot be made with what Node has, the image itself again,
 * as long as it is not too large to be shown as a whole. Equal bytes are stored once, so that costs nothing.
 */
import { limits } from '../base/limits.ts';
import type { ArtifactType } from '../events/evidence.ts';
import { boundaryBefore, omission } from '../tools/bounded.ts';
import { gifThumbnail } from './gif-thumbnail.ts';
import { type ImageKind, imageKind } from './image-kind.ts';
import { jpegThumbnail } from './jpeg-thumbnail.ts';
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

const THUMBNAILS: Partial<Record<ImageKind['ending'], (image: Uint8Array) => Uint8Array | undefined>> = {
  png: pngThumbnail,
  gif: gifThumbnail,
  jpg: jpegThumbnail,
};

export function previewOf({ type, name, bytes, text, first, whole }: PreviewOf): Preview | undefined {
  const dot = name.lastIndexOf('.');
  const stem = dot > 0 ? name.slice(0, dot) : name;
  if (type === 'image') {
    const kind = imageKind(first);
    if (kind === undefined || !whole) return undefined;
    if (bytes <= limits.artifactThumbnailBytes) return { name: `${stem}.${kind.ending}`, bytes: first };
    const small = THUMBNAILS[kind.ending]?.(first);
    if (small !== undefined) return { name: `${stem}.png`, bytes: small };
    return bytes <= limits.artifactImagePreviewBytes ? { name: `${stem}.${kind.ending}`, bytes: first } : undefined;
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
