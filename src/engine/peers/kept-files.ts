/**
 * Files that an agent elsewhere made, as artifacts of ours: stored before it is recorded how its task stands, under references
 * that stay when the peer has forgotten them. The same file of the same task is one artifact, however often it is shown.
 */
import { createHash } from 'node:crypto';
import { imageKind } from '../../artifacts/image-kind.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { ArtifactType } from '../../events/evidence.ts';
import type { PeerFile } from '../../peers/port.ts';
import { artifactsOfRun } from '../evidence/run-artifacts.ts';
import { type PeerRecorder, peerModel } from './recorder.ts';

type KeptFile = NonNullable<Payloads['peer.state']['files']>[number];

export interface KeptFiles {
  readonly files: readonly KeptFile[];
  /** The same words, with where each file is kept, or why it is not. */
  told(words: string): string;
}

export async function keepPeerFiles(
  recorder: PeerRecorder,
  task: string | undefined,
  files: readonly PeerFile[],
): Promise<KeptFiles> {
  const kept: KeptFile[] = [];
  const places: (readonly [words: string, told: string])[] = [];
  for (const file of files) {
    const outcome = await keep(recorder, task, file);
    const { artifact, name, mediaType, bytes, words } = file;
    kept.push({ ...present({ artifact, name, mediaType }), bytes, ...outcome });
    const how = 'ref' in outcome ? `kept as ${outcome.ref}` : `not kept: ${outcome.why}`;
    places.push([words, `${words.slice(0, -1)}, ${how}]`]);
  }
  return { files: kept, told: (words) => placed(words, places) };
}

async function keep(
  { tree, node, setup, ...more }: PeerRecorder,
  task: string | undefined,
  { artifact, name, mediaType, content }: PeerFile,
): Promise<{ readonly ref: string } | { readonly why: string }> {
  if (content === undefined) return { why: `it is larger than ${limits.peerFileBytes} bytes (peerFileBytes)` };
  const agent = setup.definition.name;
  const from = { agent, ...present({ task, artifact, name, mediaType }) };
  const generatedBy = `${agent}, at ${peerModel({ tree, node, setup, ...more })}`;
  const wanted = { type: typeOf(mediaType, content), name: name ?? 'file', generatedBy, from };
  const stored = await artifactsOfRun(tree, node).put(stepOf(task, artifact, name, content), {
    ...wanted,
    source: { kind: 'bytes', bytes: content },
  });
  return stored.ok ? { ref: stored.value.ref } : { why: tree.redact(stored.error.message) };
}

/** By what the file is, and not by when it was shown: with a question, with the answer, or once more after a crash. */
function stepOf(task: string | undefined, artifact: string | undefined, name: string | undefined, content: Uint8Array): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([task, artifact, name]))
    .update(content)
    .digest('hex');
  return `peer-file/${hash.slice(0, 32)}`;
}

const TABLE =
  /^(?:text\/(?:csv|tab-separated-values)|application\/(?:vnd\.ms-excel|vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet))\b/i;

/** An image is what is one, whatever was said of it. */
function typeOf(mediaType: string | undefined, content: Uint8Array): ArtifactType {
  if (imageKind(content) !== undefined) return 'image';
  return mediaType !== undefined && TABLE.test(mediaType) ? 'table' : 'doc';
}

/** In the order in which they came: the same words may stand for several. */
function placed(words: string, places: readonly (readonly [words: string, told: string])[]): string {
  let text = '';
  let rest = words;
  for (const [before, told] of places) {
    const at = rest.indexOf(before);
    if (at < 0) continue;
    text += rest.slice(0, at) + told;
    rest = rest.slice(at + before.length);
  }
  return text + rest;
}
