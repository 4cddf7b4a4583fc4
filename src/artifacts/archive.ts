/**
 * Artifacts as they are found again: listed, resolved by reference, read part by part. Everything is a fold of events; whether
 * the bytes are still there the ledger says. What is read is checked against its checksum as it goes by.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import type { PayloadRef, RunId, SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import type { FoundArtifact, RecordedEnvironment } from './port.ts';
import { storedArtifact } from './put.ts';
import { type EventRef, hashInEnvironmentRef, isArtifactRef, parseEventRef } from './refs.ts';

/** What is asked about: a whole session, or one run and the runs below it. */
export interface ArtifactScope {
  readonly session: SessionId;
  readonly run?: RunId | undefined;
}

/** Why a reference leads to nothing, and what to do about it. */
export interface LookupProblem {
  readonly code: 'artifact_unknown' | 'artifact_ref' | 'artifact_collected' | 'artifact_inexact';
  readonly message: string;
  readonly fix: string;
}

/** What a reference leads to. */
export type Resolved =
  | { readonly kind: 'artifact'; readonly artifact: FoundArtifact }
  | ({ readonly kind: 'environment' } & RecordedEnvironment)
  | { readonly kind: 'event'; readonly event: LedgerEvent };

/** What work left behind, of a whole ledger. */
export interface ArtifactArchive {
  /** In the order they were stored. Previews are among them, and say what they are previews of. */
  list(scope: ArtifactScope): Promise<readonly FoundArtifact[]>;
  /** `artifact://…`, `env://…` or `event://…`, in one session or, without one, in the newest that has it. */
  resolve(ref: string, session?: SessionId): Promise<Result<Resolved, LookupProblem>>;
  /** Its bytes, part by part. Throws when they are not what their checksum says. */
  bytes(artifact: FoundArtifact): AsyncGenerator<Uint8Array>;
  /** As it was before secrets were taken out, for what works on with it and never for what is shown. */
  exactText(artifact: FoundArtifact): Promise<Result<string, LookupProblem>>;
  /** Keeps it, or lets it go, whatever its type and age. */
  pin(artifact: FoundArtifact, pinned: boolean, by?: string): Promise<void>;
}

type ArchiveLedger = Pick<Ledger, 'read' | 'payload' | 'held' | 'runs' | 'append'>;

export function createArtifactArchive(ledger: ArchiveLedger, clock: Clock): ArtifactArchive {
  return {
    list: (scope) => listed(ledger, scope),
    resolve: (ref, session) => resolved(ledger, ref, session),
    bytes: (artifact) => bytesOfArtifact(ledger, artifact),
    exactText: (artifact) => exactText(ledger, artifact),
    async pin({ session, run, position, ref }, pinned, by) {
      const payload = { ref, pinned, ...present({ by }) };
      const cause = (await eventAt(ledger, session, position))?.event_id ?? null;
      const event = { type: 'artifact.pinned', run, actor: 'user', cause, at: clock.now(), payload } as const;
      await ledger.append({ session, fence: null, events: [event] });
    },
  };
}

async function eventAt(ledger: ArchiveLedger, session: SessionId, position: number): Promise<LedgerEvent | undefined> {
  return (await ledger.read({ session, after: position - 1, limit: 1 }))[0];
}

async function listed(ledger: ArchiveLedger, { session, run }: ArtifactScope): Promise<readonly FoundArtifact[]> {
  const below = run === undefined ? undefined : await runsBelow(ledger, session, run);
  const found: EventOf<'artifact.stored'>[] = [];
  const pinned = new Map<string, boolean>();
  for await (const event of readEvents(ledger, { session, types: ['artifact.stored', 'artifact.pinned'] })) {
    if (event.event_type === 'artifact.pinned') pinned.set(event.payload.ref, event.payload.pinned);
    else if (event.event_type === 'artifact.stored' && below?.has(event.run_id) !== false) found.push(event);
  }
  const held = await ledger.held([...new Set(found.flatMap(blobsOf))]);
  return found.map((event) => foundArtifact(event, pinned.get(event.payload.ref) ?? false, held));
}

const blobsOf = ({ payload, attachment_ref }: EventOf<'artifact.stored'>): readonly PayloadRef[] =>
  payload.parts === undefined ? (attachment_ref === null ? [] : [attachment_ref as PayloadRef]) : (payload.parts as PayloadRef[]);

function foundArtifact(event: EventOf<'artifact.stored'>, pinned: boolean, held: ReadonlySet<PayloadRef>): FoundArtifact {
  const { payload } = event;
  const blobs = blobsOf(event);
  return {
    ...storedArtifact(payload),
    session: event.session_id,
    run: event.run_id,
    position: event.position,
    at: event.timestamp,
    pinned,
    collected: blobs.some((ref) => !held.has(ref)),
    preview_of: payload.preview_of,
    size: payload.size,
    blobs,
  };
}

async function runsBelow(ledger: ArchiveLedger, session: SessionId, run: RunId): Promise<ReadonlySet<RunId>> {
  const rows = await ledger.runs({ session, limit: Number.MAX_SAFE_INTEGER });
  const below = new Set<RunId>([run]);
  // Rows come newest first, and no run is older than the one that started it; of the same moment, it takes another round.
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const row of rows.toReversed()) if (row.parent !== null && below.has(row.parent)) below.add(row.run);
  }
  return below;
}

async function resolved(ledger: ArchiveLedger, ref: string, session?: SessionId): Promise<Result<Resolved, LookupProblem>> {
  const hash = hashInEnvironmentRef(ref);
  const event = parseEventRef(ref);
  if (!isArtifactRef(ref) && hash === undefined && event === undefined)
    return fail({
      code: 'artifact_ref',
      message: `${JSON.stringify(ref)} is not a reference`,
      fix: 'References look like artifact://patches/patch-0001.diff, env://hash/0123456789ab or event://SESSION/TYPE/HASH.',
    });
  for (const one of await sessionsToLookIn(ledger, event?.session ?? session)) {
    const found =
      hash !== undefined
        ? await environmentIn(ledger, one, hash)
        : event !== undefined
          ? await eventIn(ledger, one, event)
          : await artifactIn(ledger, one, ref);
    if (found !== undefined) return ok(found);
  }
  return fail({
    code: 'artifact_unknown',
    message: `There is no ${ref}${session === undefined ? '' : ` in ${session}`}`,
    fix: 'See what there is: troupe artifacts list',
  });
}

async function sessionsToLookIn(ledger: ArchiveLedger, session: SessionId | undefined): Promise<Iterable<SessionId>> {
  if (session !== undefined) return [session];
  const rows = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  return new Set(rows.map((row) => row.session));
}

async function artifactIn(ledger: ArchiveLedger, session: SessionId, ref: string): Promise<Resolved | undefined> {
  const artifact = (await listed(ledger, { session })).find((one) => one.ref === ref);
  return artifact && { kind: 'artifact', artifact };
}

async function environmentIn(ledger: ArchiveLedger, session: SessionId, hash: string): Promise<Resolved | undefined> {
  for await (const event of readEvents(ledger, { session, types: ['environment.recorded'] })) {
    if (event.event_type !== 'environment.recorded' || !event.payload.sha256.startsWith(hash)) continue;
    const { ref, sha256, environment } = event.payload;
    return { kind: 'environment', ref, sha256, environment };
  }
  return undefined;
}

async function eventIn(ledger: ArchiveLedger, session: SessionId, { type, hash }: EventRef): Promise<Resolved | undefined> {
  for await (const event of readEvents(ledger, { session, types: [type] }))
    if (event.payload_ref.startsWith(hash)) return { kind: 'event', event };
  return undefined;
}

async function* bytesOfArtifact(ledger: ArchiveLedger, artifact: FoundArtifact): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for (const blob of artifact.blobs) {
    const part = await ledger.payload(blob);
    if (part === undefined) throw collected(artifact);
    hash.update(part);
    yield part;
  }
  if (`sha256:${hash.digest('hex')}` === artifact.checksum) return;
  throw new TroupeError('ledger_corrupt', `The bytes of ${artifact.ref} are not what its checksum says`, {
    fix: 'Run `troupe ledger verify`, and restore the payloads from a backup.',
  });
}

function collected({ ref, checksum, bytes, type }: FoundArtifact): TroupeError {
  const left = `what is left is its tombstone: ${type}, ${bytes} bytes, ${checksum}`;
  return new TroupeError('artifact_collected', `The bytes of ${ref} were removed by \`troupe ledger gc\`; ${left}`, {
    fix: 'Keep such artifacts longer with `artifacts.keep` in troupe.yaml, or pin them: troupe artifacts pin',
  });
}

async function exactText(ledger: ArchiveLedger, artifact: FoundArtifact): Promise<Result<string, LookupProblem>> {
  if (artifact.redacted !== true) {
    const parts: Uint8Array[] = [];
    for await (const part of bytesOfArtifact(ledger, artifact)) parts.push(part);
    return ok(Buffer.concat(parts).toString());
  }
  const [event] = await ledger.read({ session: artifact.session, after: artifact.position - 1, limit: 1, exact: true });
  const exact = event?.event_type === 'artifact.stored' && event.inexact === undefined ? event.payload.exact : undefined;
  if (exact !== undefined) return ok(exact);
  return fail({
    code: 'artifact_inexact',
    message: `${artifact.ref} held a secret, and its exact text cannot be had: ${event?.inexact ?? 'it was not kept'}`,
    fix: 'Bring the key that it was sealed with (troupe doctor), or make the artifact again without the secret.',
  });
}
