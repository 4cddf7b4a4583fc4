/** Bounds of coding agents that do work. */
import { KIB, MIB, MINUTE, SECOND } from './units.ts';

export const executorLimits = {
  // what executors.yaml may hold
  executorEntries: 100,
  executorTextCharacters: 4_000,
  executorArguments: 100,
  executorVariables: 100,

  // how long is waited for one
  executorStartMs: 60 * SECOND,
  executorSessionMs: 2 * MINUTE,
  executorCallMs: 30 * SECOND,
  /** One that goes on although it was told to stop is ended with all its processes, at once and without more words. */
  executorCancelMs: 5 * SECOND,
  executorEndMs: 3 * SECOND,
  executorIdleMs: 30 * MINUTE,

  // what it may send
  executorFrameBytes: 16 * MIB,
  executorFrameDepth: 200,
  executorTurnFrames: 1_000_000,
  executorTurnBytes: 512 * MIB,
  executorBrokenFrames: 10_000,
  /** What it may print before its first message. */
  executorBannerLines: 200,
  executorBannerBytes: 256 * KIB,
  executorTurnUpdates: 50_000,
  executorOpenRequests: 256,

  // what is kept of it
  executorStderrBytes: 16 * KIB,
  executorAnswerBytes: 1 * MIB,
  executorCalls: 5_000,
  executorCallInputBytes: 256 * KIB,
  executorCallOutputBytes: 64 * KIB,
  executorDiffs: 50,
  executorDiffBytes: 256 * KIB,
  executorLocations: 50,
  executorPlanEntries: 200,
  executorTitleCharacters: 2_000,
  executorIdCharacters: 500,
  executorModes: 100,
  executorKeptUpdates: 5_000,

  // what it may do through us
  executorTerminals: 16,
  executorTerminalBytes: 1 * MIB,
  executorWriteBytes: 16 * MIB,
  /** Files of which it is known what it has read; those that it read first are forgotten. */
  executorFilesSeen: 10_000,
} as const;
