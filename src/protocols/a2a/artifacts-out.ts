/** What a task left behind: its answer, and the files that its runs changed as long as they are still what the runs left. */
import { createHash } from 'node:crypto';
import type { Artifact, Part } from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import type { RootTask } from '../../projections/tasks/tasks.ts';
import { type ArtifactContent, artifactsOf, type KnowsSecrets, type Artifact as LeftFile, readArtifact } from '../artifacts.ts';
import type { FoundTask } from './found-tasks.ts';
import type { A2aNeeds } from './needs.ts';
import { answerOut, emptyArtifact } from './task-out.ts';

export async function artifactsOut(
  needs: Pick<A2aNeeds, 'ledger' | 'redact'>,
  task: RootTask,
  found: FoundTask,
): Promise<readonly Artifact[]> {
  if (task.end === undefined) return [];
  const answer = answerOut(task);
  if (task.files.length === 0) return answer;
  const left = await artifactsOf(needs.ledger, found);
  const files: Artifact[] = [];
  let room: number = limits.resourceBytes;
  for (const file of left.slice(0, limits.a2aFilesPerTask)) {
    const { artifact, bytes } = await fileOut(needs, file, room);
    room -= bytes;
    files.push(artifact);
  }
  return [...answer, ...files, ...leftOut(left.length - files.length)];
}

/** Whoever gets fewer than there are knows that. */
function leftOut(count: number): readonly Artifact[] {
  if (count === 0) return [];
  const why = `A task shows at most ${limits.a2aFilesPerTask} files (a2aFilesPerTask): the others are in the workspace`;
  const content: Part['content'] = { $case: 'data', value: { leftOut: count, why } };
  const part: Part = { content, metadata: undefined, filename: '', mediaType: 'application/json' };
  return [{ ...emptyArtifact(LEFT_OUT), name: LEFT_OUT, parts: [part] }];
}

const LEFT_OUT = 'files-left-out';

async function fileOut(
  needs: KnowsSecrets,
  file: LeftFile,
  room: number,
): Promise<{ readonly artifact: Artifact; readonly bytes: number }> {
  const { path: filename, sha256 } = file;
  const name = `file-${createHash('sha256').update(filename).digest('hex').slice(0, 16)}`;
  const about = { path: filename, sha256 };
  const withPart = (part: Part, bytes: number) => ({
    artifact: { ...emptyArtifact(name), name: filename, parts: [part], metadata: about },
    bytes,
  });
  const content = await readArtifact(needs, file);
  const raw = content.ok ? bytesOf(content.value) : undefined;
  if (raw !== undefined && raw.length <= room) {
    const mediaType = content.ok && 'text' in content.value ? 'text/plain' : 'application/octet-stream';
    return withPart({ content: { $case: 'raw', value: raw }, metadata: undefined, filename, mediaType }, raw.length);
  }
  const why = content.ok
    ? `There is no room for it: at most ${limits.resourceBytes} bytes of files (resourceBytes)`
    : content.error;
  return withPart(
    { content: { $case: 'data', value: { ...about, why } }, metadata: undefined, filename, mediaType: 'application/json' },
    0,
  );
}

const bytesOf = (content: ArtifactContent): Buffer =>
  'text' in content ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64');
