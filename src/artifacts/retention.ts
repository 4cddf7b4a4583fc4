/**
 * How long artifacts are kept: by their type, by the room that all of them may take, and as long as they are pinned. What has no
 * time of its own goes with its session. Bytes go only when every artifact that has them may go: equal bytes are stored once.
 */

import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import type { PayloadRef, SessionId } from '../base/ids.ts';
import type { ArtifactType } from '../events/evidence.ts';
import { readEvents } from '../ledger/pages.ts';
import type { AttachmentRetention, Ledger } from '../ledger/port.ts';
import { createArtifactArchive } from './archive.ts';
import type { FoundArtifact } from './port.ts';

export interface ArtifactKeeping {
  /** In milliseconds. */
  readonly keep?: Readonly<Partial<Record<ArtifactType, number | 'forever'>>> | undefined;
  /** Of all artifacts together; the oldest go first, but none that is pinned or kept for ever. */
  readonly maxBytes?: number | undefined;
}

const TYPES = ['artifact.stored', 'artifact.part'] as const;
const RECORDS = ['artifact.pinned', 'artifact.manifest', 'environment.recorded'] as const;

export async function artifactRetention(
  ledger: Ledger,
  clock: Clock,
  { keep = {}, maxBytes }: ArtifactKeeping,
): Promise<AttachmentRetention> {
  const now = clock.now();
  const { artifacts, upTo } = await everyArtifact(ledger, clock);
  const staying = (artifact: FoundArtifact): 'keep' | 'drop' | 'session' => {
    const time = keep[artifact.type];
    if (artifact.pinned || time === 'forever') return 'keep';
    if (time === undefined) return 'session';
    return now - Date.parse(artifact.at) > time ? 'drop' : 'keep';
  };
  const verdicts = new Map(artifacts.map((artifact) => [artifact, staying(artifact)]));
  for (const artifact of overMost(artifacts, maxBytes, (one) => verdicts.get(one) === 'drop'))
    if (!artifact.pinned && keep[artifact.type] !== 'forever') verdicts.set(artifact, 'drop');
  const refsOf = (wanted: string): PayloadRef[] =>
    artifacts.filter((artifact) => verdicts.get(artifact) === wanted).flatMap(({ blobs }) => blobs);
  const kept = new Set(refsOf('keep'));
  const held = new Set([...kept, ...refsOf('session')]);
  return {
    ...{ types: TYPES, records: RECORDS, upTo },
    keep: [...kept],
    drop: [...new Set(refsOf('drop'))].filter((ref) => !held.has(ref)),
  };
}

/** The oldest that would have to go so that all others fit. */
function overMost(
  artifacts: readonly FoundArtifact[],
  maxBytes: number | undefined,
  isGoing: (artifact: FoundArtifact) => boolean,
): readonly FoundArtifact[] {
  if (maxBytes === undefined) return [];
  const seen = new Set<string>();
  let room = maxBytes;
  return artifacts
    .filter((artifact) => !artifact.collected && !isGoing(artifact))
    .toSorted((left, right) => (left.at < right.at ? 1 : -1))
    .filter(({ checksum, bytes }) => {
      if (!seen.has(checksum)) room -= bytes;
      seen.add(checksum);
      return room < 0;
    });
}

interface EveryArtifact {
  readonly artifacts: readonly FoundArtifact[];
  readonly upTo: ReadonlyMap<SessionId, number>;
}

async function everyArtifact(ledger: Ledger, clock: Clock): Promise<EveryArtifact> {
  const archive = createArtifactArchive(ledger, clock);
  const rows = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  const artifacts: FoundArtifact[] = [];
  const upTo = new Map<SessionId, number>();
  for (const session of new Set(rows.map((row) => row.session))) {
    try {
      // Looked at first: what comes after it may not be in the list.
      upTo.set(session, await lastOf(ledger, session));
      artifacts.push(...(await archive.list({ session })));
    } catch (error) {
      // What was collected before there was anything to keep cannot be kept any more.
      if (codeOf(error) !== 'ledger_collected') throw error;
    }
  }
  return { artifacts, upTo };
}

async function lastOf(ledger: Ledger, session: SessionId): Promise<number> {
  let last = 0;
  for await (const { position } of readEvents(ledger, { session, types: [...TYPES, ...RECORDS] })) last = position;
  return last;
}
