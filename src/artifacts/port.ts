/**
 * Artifacts: what work leaves behind, as things of a known kind that can be found again. The bytes are in the ledger's own store
 * for payloads, named by their SHA-256; a reference is unique within its session; what is said about one is an event.
 *
 * - Only the runtime stores artifacts. What an agent or an executor says of a file is a claim: the checksum is always ours.
 * - Storing is a step of a run: asked again after a crash, it gives what was stored.
 * - Secrets are taken out of texts before they are stored; a binary file that holds one is refused.
 * - Nothing here is larger in memory than a part (`limits.artifactPartBytes`), however large the file is.
 */
import type { PayloadRef, RunId, SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { ArtifactType, FlaggedArtifact, ManifestEntry } from '../events/evidence.ts';

/** What an artifact is made of: bytes at hand, or a file below a folder, which is read part by part. */
export type ArtifactSource =
  | { readonly kind: 'bytes'; readonly bytes: string | Uint8Array }
  | { readonly kind: 'file'; readonly root: string; readonly path: string };

export interface PutArtifact {
  readonly type: ArtifactType;
  /** What it should be called; made safe, and made unique in the session. `#` stands for a number: `patch-#.diff`. */
  readonly name: string;
  /** What made it: a command line, or the part of the runtime. */
  readonly generatedBy: string;
  readonly source: ArtifactSource;
  /** What somebody says its checksum is, with or without `sha256:`. */
  readonly claimed?: string | undefined;
  /** Somebody works on with it: where secrets are taken out of it, the exact text is kept beside, sealed. */
  readonly exact?: boolean | undefined;
  /** The agent elsewhere that made it. */
  readonly from?: Payloads['artifact.stored']['from'];
  /** No preview is made, whatever its size. */
  readonly noPreview?: boolean | undefined;
}

/** Something that was stored. */
export type StoredArtifact = ManifestEntry &
  Pick<Payloads['artifact.stored'], 'bytes' | 'redacted' | 'claimed' | 'path' | 'from'>;

export interface ArtifactProblem {
  readonly code:
    | 'artifact_missing'
    | 'artifact_outside'
    | 'artifact_not_a_file'
    | 'artifact_unreadable'
    | 'artifact_too_large'
    | 'artifact_too_many'
    | 'artifact_changing'
    | 'artifact_secret';
  readonly message: string;
  readonly fix?: string | undefined;
}

/** A file that whoever did the work names as what it made. */
export interface DeclaredArtifact {
  readonly type: ArtifactType;
  /** Relative to the workspace. */
  readonly path: string;
  readonly generatedBy?: string | undefined;
  readonly checksum?: string | undefined;
}

/** Where something was done, as a reference that resolves to what was found. */
export interface RecordedEnvironment {
  readonly ref: string;
  readonly sha256: string;
  readonly environment: Json;
}

/** Finds out what work is done with. Tools are asked once for each workspace, lockfiles and the commit every time. */
export interface Environments {
  fingerprint(workspace: string, sandbox?: string): Promise<RecordedEnvironment>;
}

/** What one run stores, bound to it. `step` is stable: the same one gives the same artifact, also after a crash. */
export interface RunArtifacts {
  put(step: string, wanted: PutArtifact): Promise<Result<StoredArtifact, ArtifactProblem>>;
  /** Stores the environment, once in the session, and gives its reference. */
  environment(workspace: string, sandbox?: string): Promise<string | undefined>;
  /** Stores what is declared, and tells what of it is not so. */
  declare(step: string, workspace: string, declared: readonly DeclaredArtifact[]): Promise<Declared>;
}

export interface Declared {
  readonly stored: readonly StoredArtifact[];
  readonly flagged: readonly FlaggedArtifact[];
}

/** An artifact as it is found again. */
export interface FoundArtifact extends StoredArtifact {
  readonly session: SessionId;
  readonly run: RunId;
  readonly position: number;
  readonly at: string;
  readonly pinned: boolean;
  /** Its bytes were removed by `troupe ledger gc`; the hash of what they were is still known. */
  readonly collected: boolean;
  readonly preview_of?: string | undefined;
  readonly size?: Payloads['artifact.stored']['size'] | undefined;
  readonly blobs: readonly PayloadRef[];
}
