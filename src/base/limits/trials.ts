/** Bounds of kept tests and evaluations. */
import { KIB, MIB, MINUTE } from './units.ts';

export const trialLimits = {
  /** Files in `tests/`. */
  testFiles: 500,
  testFileBytes: 256 * KIB,
  /** Of one test: tried so often at the most. */
  testTrials: 100,
  /** Names, texts, files or commands of one kind in a test. */
  testEntries: 100,
  testJudges: 8,
  /** A test may say otherwise: `commandTimeout`. */
  testCommandMs: 5 * MINUTE,
  /** A file whose text is looked at. */
  testedFileBytes: 16 * MIB,
  /** Of a workspace that is kept for a test. */
  keptFiles: 2_000,
  keptFileBytes: 20 * MIB,
  /** A run that is kept with its answers: in a file that is read in a review. */
  frozenEvents: 20_000,
  frozenFileBytes: 32 * MIB,
  /** Changes that follow from changes, when a kept run is brought up to date. */
  frozenPasses: 20,
  /** Of each side of a difference. */
  frozenDifference: 400,
  /** Of an answer, for whoever judges it. */
  judgedCharacters: 60_000,
  /** Reports that are kept, the newest. */
  keptReports: 50,
  /** What a table comes to: cases, times agents, times models, times trials. */
  evalTrials: 5_000,
} as const;
