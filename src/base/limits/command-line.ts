/** Bounds of the command line. */
import { KIB, MIB, SECOND } from './units.ts';

export const commandLineLimits = {
  /** Of each side of a difference; all of it is in `--json`. */
  differenceCharacters: 400,
  /** Events of each of two runs that are held against each other. */
  comparedEvents: 500_000,
  /** Of each text in it, that many are kept to be shown; all of it is compared. */
  comparedCharacters: 2_000,
  /** Edits between what two runs did; more, and they are held against each other step by step. */
  comparedEdits: 1_000,
  comparedSteps: 1_000,
  comparedTerms: 50,
  comparedFiles: 1_000,
  projectSearchDepth: 64,
  runLookup: 10_000,
  completedRuns: 50,
  permissionSessions: 20,
  measuredRequests: 1_000,
  measuredFileBytes: 4 * MIB,
  notificationCharacters: 200,
  notificationMs: 5_000,
  liveFramesPerSecond: 10,
  liveTextCharacters: 16_384,
  questionsPerRun: 1_000,
  keysWaiting: 10_000,
  chatHistory: 100,
  attachedFiles: 20,
  attachedFileBytes: 256 * KIB,
  requestCharacters: 16_000,
  editedBytes: 4 * MIB,
  renderedCharacters: 100_000,
  renderedSigns: 2_000,
  exportTextCharacters: 1_000_000,
  /** Of one HTML file: what a browser still opens at once. */
  exportFileBytes: 128 * MIB,
  /** An output or an artifact that is larger is not in the file. */
  exportAttachmentBytes: 512 * KIB,
  attachColumns: 40,
  attachRows: 10,
  attachEntries: 200,
  attachLookMs: 2_000,
  /** Longer than terminals keep back that their window has another size. */
  resizeSettlesMs: 300,
  inboxLookMs: 250,
  inboxListed: 100,
  inboxTakeUpMs: 1_500,
  /** Whoever has answered a run that another process ends waits so long for that end. */
  cancelEndsMs: 30_000,
  /** So many characters of its hash stand for what was shown, at the least. */
  shownCharacters: 8,
  queryMs: 30 * SECOND, // option: query --timeout
  queryRows: 1_000, // option: query --rows
  queryRowsMost: 100_000,
  queryBytes: 16 * MIB,
  queryCharacters: 20_000,
  queryMemoryBytes: 1_024 * MIB,
  queryEvents: 1_000_000,
  dearTurns: 10,
  blamedFileBytes: 4 * MIB,
  priceFileBytes: MIB,
} as const;
