/** Bounds of artifacts and of what is found out about the environment. */
import { KIB, MIB, SECOND } from './units.ts';

export const artifactLimits = {
  artifactBytes: 512 * MIB,
  artifactPartBytes: 4 * MIB,
  artifactsPerSession: 10_000,
  artifactSessionBytes: 4_096 * MIB,
  artifactNameCharacters: 100,
  artifactPreviewBytes: 4 * KIB,
  artifactThumbnailBytes: 64 * KIB,
  /** An image of which no thumbnail can be made is shown as it is up to here. */
  artifactImagePreviewBytes: MIB,
  artifactImageDots: 16_000_000,
  /** The exact text of one that was redacted. */
  artifactExactBytes: 8 * MIB,
  artifactReads: 3,
  artifactShownBytes: 8 * MIB,
  runPatchBytes: 16 * MIB,
  logBundleBytes: 4 * MIB,
  logOutputBytes: 256 * KIB,
  manifestReports: 20,
  manifestEntries: 500,
  declaredManifestBytes: 256 * KIB,
  environmentToolMs: 3 * SECOND,
  environmentToolBytes: 4 * KIB,
  environmentLockfileBytes: 64 * MIB,
  environmentGitMs: 10 * SECOND,
  environmentGitBytes: MIB,
  environmentPlaces: 64,
} as const;
