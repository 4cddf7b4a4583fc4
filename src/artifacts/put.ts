/**
 * Stores artifacts of one run. The bytes go first, part by part, each attached to an event; then, in one append, the event that
 * names the artifact, with the counters that make its name unique in the session and hold its limits. Cut off in between, parts
 * without a name are left, which go with the session.
 */
import { createHash } from 'node:crypto';
import type { PayloadRef, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import type { CounterChange, NewEvent } from '../ledger/port.ts';
import { imageKind } from './image-kind.ts';
import type { ArtifactProblem, ArtifactSource, PutArtifact, StoredArtifact } from './port.ts';
import { type Preview, previewOf } from './preview.ts';
import { redactedParts } from './redacted-parts.ts';
import { artifactRef, cleanName, numberedName, previewRef } from './refs.ts';
import { openSourceFile, tooLargeArtifact } from './source-file.ts';

/** An event as it is asked for; whoever writes for the run makes it one of the run's. */
export type WantedEvent = {
  [Type in EventType]: {
    readonly type: Type;
    readonly payload: Payloads[Type];
    readonly step: string;
    readonly attachment?: Uint8Array;
  };
}[EventType];

/** How a run writes: the engine's writer, with the run's journal behind it. */
export interface ArtifactSink {
  readonly session: SessionId;
  recorded<Type extends EventType>(type: Type, step: string): EventOf<Type> | undefined;
  /** The name of the counter that is full, when one is; then nothing was written. */
  append(events: readonly WantedEvent[], counters?: readonly CounterChange[]): Promise<{ readonly full?: string }>;
  counter(name: string): Promise<number>;
  redact(text: string): string;
}

export async function putArtifact(
  sink: ArtifactSink,
  step: string,
  wanted: PutArtifact,
): Promise<Result<StoredArtifact, ArtifactProblem>> {
  const before = sink.recorded('artifact.stored', step);
  if (before !== undefined) return ok(storedArtifact(before.payload));
  for (let attempt = 1; ; attempt += 1) {
    const read = await readSource(sink, step, wanted);
    if (!read.ok) return read;
    if (read.value.same) return await named(sink, step, wanted, read.value);
    if (attempt >= limits.artifactReads)
      return fail({
        code: 'artifact_changing',
        message: `${JSON.stringify(wanted.name)} changed each time it was read`,
        fix: 'Store it when whoever writes it is done.',
      });
  }
}

export function storedArtifact(payload: Payloads['artifact.stored']): StoredArtifact {
  const { type, ref, generated_by, checksum, preview_ref, bytes, redacted, claimed, path, from } = payload;
  return { type, ref, generated_by, checksum, bytes, ...present({ preview_ref, redacted, claimed, path, from }) };
}

interface ReadArtifact {
  readonly bytes: number;
  /** Of what is stored. */
  readonly sha256: string;
  /** Of what was given. */
  readonly givenSha256: string;
  readonly redacted: boolean;
  readonly text: boolean;
  readonly first: Uint8Array;
  /** Empty when all of it is in `first`. */
  readonly parts: readonly PayloadRef[];
  readonly exact: string | undefined;
  readonly same: boolean;
}

async function readSource(sink: ArtifactSink, step: string, wanted: PutArtifact): Promise<Result<ReadArtifact, ArtifactProblem>> {
  const { source } = wanted;
  if (source.kind === 'bytes') return await readParts(sink, step, wanted, slices(source.bytes), async () => true);
  const opened = await openSourceFile(source.root, source.path);
  if (!opened.ok) return opened;
  try {
    return await readParts(sink, step, wanted, opened.value.parts(), opened.value.isSame);
  } finally {
    await opened.value.close();
  }
}

async function* slices(given: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(given as Uint8Array);
  for (let at = 0; at < bytes.length; at += limits.artifactPartBytes) yield bytes.subarray(at, at + limits.artifactPartBytes);
}

async function readParts(
  sink: ArtifactSink,
  step: string,
  { name, exact }: PutArtifact,
  raw: AsyncGenerator<Uint8Array>,
  isSame: () => Promise<boolean>,
): Promise<Result<ReadArtifact, ArtifactProblem>> {
  const [hash, given] = [createHash('sha256'), createHash('sha256')];
  const kept: Buffer[] = [];
  let givenBytes = 0;
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const chunk of raw) {
      given.update(chunk);
      givenBytes += chunk.length;
      if (exact === true && givenBytes <= limits.artifactExactBytes) kept.push(Buffer.from(chunk));
      yield chunk;
    }
  }
  const parts: PayloadRef[] = [];
  let pending: Uint8Array | undefined;
  const state = { bytes: 0, redacted: false, text: true, first: new Uint8Array() as Uint8Array };
  const flush = async (): Promise<void> => {
    if (pending === undefined) return;
    const part = { of: step, index: parts.length, bytes: pending.length };
    await sink.append([{ type: 'artifact.part', payload: part, step: `${step}/part/${parts.length}`, attachment: pending }]);
    parts.push(createHash('sha256').update(pending).digest('hex') as PayloadRef);
    pending = undefined;
  };
  for await (const part of redactedParts(watched(), sink.redact)) {
    if (part.kind === 'secret') return fail(holdsSecret(name));
    if (state.bytes + part.bytes.length > limits.artifactBytes)
      return fail(tooLargeArtifact(name, state.bytes + part.bytes.length));
    if (state.bytes === 0) state.first = part.bytes;
    else await flush();
    state.bytes += part.bytes.length;
    state.redacted ||= part.redacted;
    state.text &&= part.text;
    hash.update(part.bytes);
    pending = part.bytes;
  }
  if (parts.length > 0) await flush();
  const tooLong = givenBytes > limits.artifactExactBytes;
  if (exact === true && state.redacted && tooLong) return fail(holdsSecret(name));
  return ok({
    ...state,
    ...{ parts, sha256: hash.digest('hex'), givenSha256: given.digest('hex'), same: await isSame() },
    exact: exact === true && state.redacted ? Buffer.concat(kept).toString() : undefined,
  });
}

const holdsSecret = (name: string): ArtifactProblem => ({
  code: 'artifact_secret',
  message: `${JSON.stringify(name)} holds a secret of the environment, or a key, that cannot be taken out of it`,
  fix: 'Take the secret out of what makes the file, or keep the file elsewhere.',
});

const takenName = (session: string, ref: string): string => `artifact/${session}/${ref}`;

/** What is counted of artifacts, and of what work was done with, that a session begins with: their names are taken. */
export function countersOfStored(
  session: string,
  { type, payload }: Pick<NewEvent, 'type' | 'payload'>,
): readonly CounterChange[] {
  if (type === 'environment.recorded')
    return [{ name: environmentName(session, (payload as Payloads['environment.recorded']).sha256), add: 1 }];
  if (type !== 'artifact.stored') return [];
  const { ref, bytes } = payload as Payloads['artifact.stored'];
  return [
    { name: takenName(session, ref), add: 1 },
    { name: `artifacts/${session}`, add: 1 },
    { name: `artifact-bytes/${session}`, add: bytes },
  ];
}

export const environmentName = (session: string, sha256: string): string => `environment/${session}/${sha256}`;

/** Names it, under the first name that nobody in the session has. */
async function named(
  sink: ArtifactSink,
  step: string,
  wanted: PutArtifact,
  read: ReadArtifact,
): Promise<Result<StoredArtifact, ArtifactProblem>> {
  const { session } = sink;
  const name = cleanName(wanted.name);
  const hint = `artifact-name/${session}/${artifactRef(wanted.type, name)}`;
  const taken = (ref: string): string => takenName(session, ref);
  let number = (await sink.counter(hint)) + 1;
  let again = 1;
  for (let tries = 0; tries < limits.artifactsPerSession; tries += 1) {
    const chosen = numberedName(name, number);
    const ref = artifactRef(wanted.type, chosen);
    const preview = wanted.noPreview === true ? undefined : previewIn(wanted, read, chosen);
    const shown = preview === undefined ? undefined : previewRef(numberedName(preview.name, again));
    const stored = storedPayload(wanted, read, ref, shown);
    const events = [
      ...(preview === undefined || shown === undefined ? [] : [previewEvent(step, stored, shown, preview)]),
      storedEvent(step, stored, read),
    ];
    const counters: CounterChange[] = [
      ...[ref, ...(shown === undefined ? [] : [shown])].map((one) => ({ name: taken(one), add: 1, max: 1 })),
      { name: hint, add: 1 },
      { name: `artifacts/${session}`, add: events.length, max: limits.artifactsPerSession },
      { name: `artifact-bytes/${session}`, add: read.bytes, max: limits.artifactSessionBytes },
    ];
    const { full } = await sink.append(events, counters);
    if (full === undefined) return ok(storedArtifact(stored));
    if (full === taken(ref)) number += 1;
    else if (shown !== undefined && full === taken(shown)) again += 1;
    else return fail(tooMany(full.startsWith('artifacts/') ? 'artifactsPerSession' : 'artifactSessionBytes'));
  }
  return fail(tooMany('artifactsPerSession'));
}

const tooMany = (limit: 'artifactsPerSession' | 'artifactSessionBytes'): ArtifactProblem => ({
  code: 'artifact_too_many',
  message: `The session has as many artifacts as it may: ${limits[limit]} (\`${limit}\`)`,
  fix: 'Go on in a new session. The limit is fixed.',
});

function previewIn({ type }: PutArtifact, read: ReadArtifact, name: string): Preview | undefined {
  return previewOf({ type, name, bytes: read.bytes, text: read.text, first: read.first, whole: read.parts.length === 0 });
}

function storedPayload(
  { type, generatedBy, source, claimed, from }: PutArtifact,
  { bytes, sha256, givenSha256, redacted, first, parts, exact }: ReadArtifact,
  ref: string,
  shown: string | undefined,
): Payloads['artifact.stored'] {
  const size = type === 'image' ? imageKind(first)?.size : undefined;
  const said = claimed === undefined || isChecksum(claimed, givenSha256) ? undefined : claimed;
  return {
    ...{ type, ref, generated_by: generatedBy, checksum: `sha256:${sha256}` },
    ...present({ preview_ref: shown }),
    bytes,
    ...present({ path: pathOf(source), claimed: said, exact, from }),
    ...(parts.length === 0 ? {} : { parts: [...parts] }),
    ...(redacted ? { redacted } : {}),
    ...present({ size }),
  };
}

const pathOf = (source: ArtifactSource): string | undefined => (source.kind === 'file' ? source.path : undefined);

/** Whether what somebody says is this hash. */
const isChecksum = (said: string, sha256: string): boolean =>
  said
    .trim()
    .toLowerCase()
    .replace(/^sha256:/, '') === sha256;

function storedEvent(step: string, payload: Payloads['artifact.stored'], { first, parts, bytes }: ReadArtifact): WantedEvent {
  const attached = parts.length === 0 && bytes > 0 ? { attachment: first } : {};
  return { type: 'artifact.stored', payload, step, ...attached };
}

function previewEvent(step: string, of: Payloads['artifact.stored'], ref: string, { bytes }: Preview): WantedEvent {
  const payload: Payloads['artifact.stored'] = {
    ...{ type: of.type, ref, generated_by: 'preview', preview_of: of.ref, bytes: bytes.length },
    checksum: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    ...(of.redacted === true ? { redacted: true } : {}),
  };
  return { type: 'artifact.stored', payload, step: `${step}/preview`, attachment: bytes };
}
