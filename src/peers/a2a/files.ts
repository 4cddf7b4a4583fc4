/** Files among what a peer gives, as bytes that it sent: bounded, and each named in the words that stand for it. */
import type { Artifact, Part } from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { PeerFile } from '../port.ts';

type Raw = Extract<Part['content'], { $case: 'raw' }>;

export interface FilesIn {
  readonly files: readonly PeerFile[];
  /** There were more than are kept. */
  readonly leftOut: boolean;
}

/** Of artifacts and of what was said beside them; an address is told and never fetched, so it is no file. */
export function filesIn(artifacts: readonly Artifact[], said: readonly Part[]): FilesIn {
  const all = [
    ...artifacts.flatMap(({ artifactId, name, parts }) => parts.flatMap((part) => fileOf(part, artifactId, name))),
    ...said.flatMap((part) => fileOf(part)),
  ];
  return { files: all.slice(0, limits.peerFiles), leftOut: all.length > limits.peerFiles };
}

function fileOf(part: Part, artifact?: string, given?: string): PeerFile[] {
  const { content, filename, mediaType } = part;
  if (content?.$case !== 'raw') return [];
  const { length: bytes } = content.value;
  const name = (filename || given || undefined)?.slice(0, limits.peerNameCharacters).toWellFormed();
  return [
    {
      ...present({ artifact, name, mediaType: mediaType.slice(0, limits.peerNameCharacters).toWellFormed() || undefined }),
      bytes,
      content: bytes > limits.peerFileBytes ? undefined : content.value,
      words: fileWords(part, content),
    },
  ];
}

/** What stands for the file where there are only words. */
export const fileWords = ({ filename, mediaType }: Part, { value }: Raw): string =>
  `[file ${filename || 'without a name'}, ${mediaType || 'of unknown type'}, ${value.length} bytes]`;
