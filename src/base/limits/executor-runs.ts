/** Bounds of runs that executors work for. */
import { KIB, SECOND } from './units.ts';

export const executorRunLimits = {
  /** How often one that ended in the middle of a prompt is started again, within one turn. */
  executorRestarts: 2,
  /** How often it is told, within one turn, what somebody said who did not allow something. */
  executorWords: 3,
  /** Fields of a form that it may ask somebody to fill in. */
  executorQuestionFields: 10,
  executorEventTitleCharacters: 300,
  /** Files that are closed to it and changed while it worked. */
  touchedFilesTold: 20,
  /** Of the hash under which a permission is asked for. */
  executorHashCharacters: 16,
  executorEventInputBytes: 16 * KIB,
  executorEventOutputBytes: 16 * KIB,
  executorEventLocations: 50,
  executorEventPlanEntries: 100,
  executorEventNotices: 20,
  /** Reported calls of one run that are kept; what it does beyond is done and not listed. */
  executorCallsKept: 5_000,
  /** What a session is told of what is known to be done. */
  executorDoneLines: 100,
  /** Of what was said before, for a session that has lost it. */
  executorHistoryCharacters: 60_000,
  executorEventStderrBytes: 8 * KIB,
  /** How often it is looked whether another process has taken up the run of an executor that was left. */
  executorLeftLookMs: 2 * SECOND,
  executorMemoryEveryMs: 1 * SECOND,
} as const;
