/**
 * What a task left behind: its answer, the files that its runs changed as long as they are still what the runs left, and those
 * that agents elsewhere made for it.
 */
import { createHash } from 'node:crypto';
import type { Artifact, Part } from '@a2a-js/sdk';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { receivedName } from '../../projections/tasks/task-context.ts';
import type { ReceivedFile, RootTask } from '../../projections/tasks/tasks.ts';
import { type ArtifactContent, artifactsOf, type KnowsSecrets, type Artifact as LeftFile, readArtifact } from '../artifacts.ts';
import type { FoundTask } from './found-tasks.ts';
import type { A2aNeeds } from './needs.ts';
import { answerOut, emptyArtifact } from './task-out.ts';

type Needs = Pick<A2aNeeds, 'ledger' | 'redact' | 'artifacts'>;

export async function artifactsOut(needs: Needs, task: RootTask, found: FoundTask): Promise<readonly Artifact[]> {
  if (task.end === undefined) return [];
  const answer = answerOut(task);
  if (task.files.length === 0 && task.received.length === 0) return answer;
  const changed = task.files.length === 0 ? [] : await artifactsOf(needs.ledger, found);
  const all = [
    ...changed.map((file) => (room: number) => fileOut(needs, file, room)),
    ...task.received.map((file) => (room: number) => receivedOut(needs, task, file, room)),
  ];
  const files: Artifact[] = [];
  let room: number = limits.resourceBytes;
  for (const give of all.slice(0, limits.a2aFilesPerTask)) {
    const { artifact, bytes } = await give(room);
    room -= bytes;
    files.push(artifact);
  }
  return [...answer, ...files, ...leftOut(all.length - files.length)];
}

/** Whoever gets fewer than there are knows that. */
function leftOut(count: number): readonly Artifact[] {
  if (count === 0) return [];
  const why = `A task shows at most ${limits.a2aFilesPerTask} files (a2aFilesPerTask): the others stay here`;
  const content: Part['content'] = { $case: 'data', value: { leftOut: count, why } };
  const part: Part = { content, metadata: undefined, filename: '', mediaType: 'application/json' };
  return [{ ...emptyArtifact(LEFT_OUT), name: LEFT_OUT, parts: [part] }];
}

const LEFT_OUT = 'files-left-out';

interface GivenFile {
  readonly artifact: Artifact;
  readonly bytes: number;
}

/** What is known of a file, and its content, where there is room for it. */
interface FileFacts {
  readonly id: string;
  readonly filename: string;
  readonly about: Readonly<Record<string, unknown>>;
}

async function fileOut(needs: KnowsSecrets, file: LeftFile, room: number): Promise<GivenFile> {
  const { path: filename, sha256 } = file;
  const content = await readArtifact(needs, file);
  const facts = { id: idOf(filename), filename, about: { path: filename, sha256 } };
  if (!content.ok) return given(facts, content, '', room);
  return given(facts, ok(bytesOf(content.value)), 'text' in content.value ? 'text/plain' : 'application/octet-stream', room);
}

/** Secrets were taken out of it when it was stored. */
async function receivedOut(needs: Needs, { session }: RootTask, file: ReceivedFile, room: number): Promise<GivenFile> {
  const { ref, checksum, bytes, from } = file;
  const facts = {
    id: idOf(ref),
    filename: from.name ?? receivedName(ref),
    about: { ref, sha256: checksum.replace(/^sha256:/, ''), madeBy: from.agent },
  };
  const content = bytes > room ? noRoom : await stored(needs, session, ref);
  return given(facts, content, from.mediaType ?? 'application/octet-stream', room);
}

async function stored({ artifacts }: Needs, session: RootTask['session'], ref: string): Promise<Result<Buffer, string>> {
  const found = await artifacts.resolve(ref, session);
  if (!found.ok) return fail(found.error.message);
  if (found.value.kind !== 'artifact' || found.value.artifact.collected) return fail('It was removed here');
  const parts: Uint8Array[] = [];
  try {
    for await (const part of artifacts.bytes(found.value.artifact)) parts.push(part);
  } catch (error) {
    return fail(messageOf(error));
  }
  return ok(Buffer.concat(parts));
}

const noRoom = fail(`There is no room for it: at most ${limits.resourceBytes} bytes of files (resourceBytes)`);

function given({ id, filename, about }: FileFacts, content: Result<Buffer, string>, mediaType: string, room: number): GivenFile {
  const withPart = (part: Part, bytes: number) => ({
    artifact: { ...emptyArtifact(id), name: filename, parts: [part], metadata: about },
    bytes,
  });
  const raw = content.ok && content.value.length > room ? noRoom : content;
  if (raw.ok)
    return withPart({ content: { $case: 'raw', value: raw.value }, metadata: undefined, filename, mediaType }, raw.value.length);
  return withPart(
    {
      content: { $case: 'data', value: { ...about, why: raw.error } },
      ...{ metadata: undefined, filename, mediaType: 'application/json' },
    },
    0,
  );
}

const idOf = (name: string): string => `file-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;

const bytesOf = (content: ArtifactContent): Buffer =>
  'text' in content ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64');
