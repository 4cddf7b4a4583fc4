/** Bounds of places where tasks work, and of what comes back from them. */
import { GIB, KIB, MIB, MINUTE, SECOND } from './units.ts';

export const workspaceLimits = {
  /** How long one call of git may take at a place: a checkout of a large repository is one. */
  checkoutMs: 10 * MINUTE,
  /** How long somebody waits for others who make places or apply results in the same project. */
  workspaceWaitMs: 10 * MINUTE,
  patchBytes: 64 * MIB,
  patchFiles: 20_000,
  /** Of all files that are new or changed together: git reads each of them whole. */
  newBytes: GIB,
  includedFiles: 10_000,
  includedBytes: 256 * MIB,
  linkedPackages: 10_000,
  keptPatches: 1_000,
  domainPaths: 1_000,
  /** How long a task waits for files that another has. */
  domainWaitMs: 60 * MINUTE,
  domainLookMs: SECOND,
  mergePatches: 200,
  conflictHunks: 50,
  conflictBytes: 16 * KIB,
  appliedFilesTold: 1_000,
  /** Of a repository that goes with a run to workers elsewhere. */
  packBytes: 256 * MIB,
  /** Of what changed at a place between two moments at which it is kept, and of all that is kept of one. */
  keptPointBytes: 64 * MIB,
  keptPlaceBytes: 512 * MIB,
  /** Places that a worker remembers to have built: of others it looks at what is there. */
  placesKnown: 200,
  /** How long the place of a task stays after its run has ended when nobody applies its work. */
  placeKeptMs: 14 * 24 * 60 * MINUTE,
  /** How often a process looks for places of ended runs, and how many it removes then. */
  placesSweepMs: 10 * MINUTE,
  placesSwept: 50,
} as const;
