/** What work left behind, compared: two artifacts line by line, or what two runs left file by file; and the manifest of a run. */
import type { ArtifactArchive } from '../../artifacts/archive.ts';
import { diffOfTexts } from '../../artifacts/patch-text.ts';
import type { FoundArtifact } from '../../artifacts/port.ts';
import { limits } from '../../base/limits.ts';
import type { EventOf } from '../../events/envelope.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { readableBytes } from '../../projections/readable.ts';

export interface Difference {
  readonly same: boolean;
  readonly files: FileDifference[];
  readonly diff?: string;
}

export type FileDifference = { readonly path: string; readonly left: string | null; readonly right: string | null };

type Reading = Pick<Ledger, 'read'>;

export async function compareArtifacts(
  archive: Pick<ArtifactArchive, 'bytes'>,
  one: FoundArtifact,
  other: FoundArtifact,
): Promise<Difference> {
  if (one.checksum === other.checksum) return { same: true, files: [] };
  const [before, after] = await Promise.all(
    [one, other].map((artifact) => textOfArtifact(archive, artifact, limits.artifactShownBytes)),
  );
  if (before === undefined || after === undefined) {
    const facts = [one, other].map(({ bytes, checksum }) => `${readableBytes(bytes)}, ${checksum}`);
    return { same: false, files: [], diff: `no texts, or too long to be compared:\n- ${facts[0]}\n+ ${facts[1]}\n` };
  }
  return { same: false, files: [], diff: diffOfTexts([one.ref, before], [other.ref, after]) };
}

/** By what the manifests say that files hold. */
export async function compareRuns(ledger: Reading, left: RunRow, right: RunRow): Promise<Difference> {
  const [before, after] = await Promise.all([left, right].map((row) => filesOf(ledger, row)));
  const paths = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort();
  const files = paths.flatMap((path): FileDifference[] => {
    const [one, other] = [before?.get(path) ?? null, after?.get(path) ?? null];
    return one === other ? [] : [{ path, left: one, right: other }];
  });
  return { same: files.length === 0, files };
}

async function filesOf(ledger: Reading, { session, run, parent }: RunRow): Promise<ReadonlyMap<string, string | null>> {
  const files = new Map<string, string | null>();
  const scope = parent === null ? { root: run } : { run };
  for await (const event of readEvents(ledger, { session, ...scope, types: ['artifact.manifest'] }))
    if (event.event_type === 'artifact.manifest')
      for (const { path, sha256 } of event.payload.items) files.set(path, sha256 ?? 'deleted');
  return files;
}

/** Of the run, or else the newest of its session. */
export async function readManifest(
  ledger: Reading,
  { session, run }: RunRow,
): Promise<EventOf<'artifact.manifest'>['payload'] | undefined> {
  let found: EventOf<'artifact.manifest'> | undefined;
  for await (const event of readEvents(ledger, { session, types: ['artifact.manifest'] }))
    if (event.event_type === 'artifact.manifest' && (event.run_id === run || found?.run_id !== run)) found = event;
  return found?.payload;
}

/** The whole text, bounded; `undefined` when it is no text or larger. */
export async function textOfArtifact(
  archive: Pick<ArtifactArchive, 'bytes'>,
  artifact: FoundArtifact,
  maxBytes: number,
): Promise<string | undefined> {
  if (artifact.bytes > maxBytes) return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of archive.bytes(artifact)) parts.push(part);
  const bytes = Buffer.concat(parts);
  const text = bytes.toString();
  return bytes.includes(0) || !Buffer.from(text).equals(bytes) ? undefined : text;
}
