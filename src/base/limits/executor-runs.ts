/** Bounds of runs that executors work for. */
import { KIB, SECOND } from './units.ts';

export const executorRunLimits = {
  /** How often one that ended in the middle of a prompt is started again, within one turn. */
  executorRestarts: 2,
  /** How often it is told, within one turn, what somebody said who did not allow something. */
  executorWords: 3,
  /** Fields of a form that it may ask somebody to fill in. */
  executorQuestionFields: 10,
  executorTitleCharacters: 300,
  /** Of the hash under which a permission is asked for. */
  executorHashCharacters: 16,
  executorInputBytes: 16 * KIB,
  executorOutputBytes: 16 * KIB,
  executorLocations: 50,
  executorPlanEntries: 100,
  /** Reported calls of one run that are kept; what it does beyond is done and not listed. */
  executorCallsKept: 5_000,
  /** What a session is told of what is known to be done. */
  executorDoneLines: 100,
  /** Of what was said before, for a session that has lost it. */
  executorHistoryCharacters: 60_000,
  executorStderrBytes: 8 * KIB,
  /** How long one that is told to stop is waited for before its processes are ended. */
  executorCancelMs: 10 * SECOND,
  executorMemoryEveryMs: 1 * SECOND,
} as const;
