/** Bounds of runs, their patterns, assistants and the processes that play them. */
import { KIB, MIB, MINUTE, SECOND } from './units.ts';

export const runLimits = {
  // runs
  runDepth: 16,
  forkEvents: 200_000,
  forkFiles: 20_000,
  forkBytes: 1_024 * MIB,
  leaveRunMs: 5 * SECOND,
  leaveRunPollMs: 50,
  overtakenTries: 5,
  groupNudges: 3,
  verificationReasons: 20,
  verificationReasonCharacters: 500,
  claimCharacters: 200,
  reflectIterations: 5, // agent: group.maxIterations
  reflectErrors: 3,
  evaluationTurns: 2,
  reflectBackOffMs: 2 * SECOND,
  workerTimeoutMs: 10 * MINUTE, // agent: group.workerTimeout
  collectTimeoutMs: 15 * MINUTE, // agent: group.collectTimeout
  choiceConfidence: 0.7, // agent: dispatch.confidenceThreshold
  choiceAttempts: 3, // agent: dispatch.maxAttempts
  choiceTemperature: 0.3, // agent: dispatch.temperature
  choiceOutputTokens: 500, // agent: dispatch.maxOutputTokens
  dispatchTimeoutMs: 30 * SECOND, // agent: dispatch.timeout
  dispatchRetries: 2, // agent: dispatch.retries
  dispatchRetryMs: 1 * SECOND, // agent: dispatch.retryDelay
  dispatchRetriesMax: 10,
  dispatchTemplateCharacters: 20_000,
  dispatchClarifications: 3,
  dispatchQuestions: 5,
  clarifyRounds: 3, // agent: architect.limits.maxClarifyRounds
  clarifyRoundsMax: 10,
  clarifyQuestions: 5,
  taskCliCalls: 8, // agent: architect.limits.maxCliCalls
  taskDurationMs: 15 * MINUTE, // agent: architect.limits.maxDuration
  taskMemoryMiB: 4_096, // agent: architect.limits.maxMemory
  taskSameErrors: 2, // agent: architect.limits.maxSameErrorRetries
  summarizeEvents: 200, // agent: architect.limits.summarizeThreshold
  taskStallMs: 5 * MINUTE, // agent: architect.limits.stallAfter
  taskLookMs: 30 * SECOND,
  /** How long the acceptance of a task may be run where the task began. */
  taskBeforeMs: 10 * MINUTE,
  parallelTasks: 16,
  fallbackExecutors: 10,
  tasksPerDelegation: 16,
  taskAttempts: 10,
  taskGoalCharacters: 4_000,
  taskLineCharacters: 500,
  taskLines: 50,
  snapshotEvents: 64,
  snapshotCharacters: 16_000,
  taskDiffCharacters: 40_000,
  taskWordCharacters: 8_000,
  catalogueCharacters: 1_000,
  catalogueExamples: 5,
  catalogueExampleCharacters: 200,
  runsRecalled: 1_000,
  choicesRecalled: 100,
  contextCharacters: 8_000,
  broadcastBytes: 256 * KIB,
  promptBytes: 4 * MIB,
  savedGroups: 1_000,
  groupNameCharacters: 100,
  queuedPrompts: 100,
  /** So many of the newest events a server looks through for prompts that wait, when it begins; later, so many at a time. */
  queueLookBack: 10_000,
  organisationWaitMs: 60 * SECOND,
  gitMs: 2 * MINUTE,

  // assistants and runners
  assistantsActive: 8, // troupe.yaml: assistants.active
  assistantsPerParent: 16, // troupe.yaml: assistants.perParent
  assistantsWaiting: 64, // troupe.yaml: assistants.waiting
  assistantsPerSession: 64, // troupe.yaml: assistants.perSession
  assistantDepth: 5, // troupe.yaml: assistants.depth
  assistantLifetimeMs: 24 * 60 * MINUTE, // troupe.yaml: assistants.lifetime
  assistantWaitMs: 4 * MINUTE,
  messageBytes: 64 * KIB,
  messagesPerThread: 10_000,
  messagesPerRead: 200,
  messagesPerTurn: 50,
  messagesUnheard: 100,
  contextAssistants: 10,
  messageSessionsKept: 64,
  messageCharactersKept: 64 * MIB,
  familyMembersKept: 10_000,
  idleCheckMs: 1 * SECOND,
  takeUpAfterMs: 2 * SECOND,
  takeUpLookMs: 5 * SECOND,
  takeUpPauseMs: 60 * MINUTE,
  waitProgressMs: 1 * SECOND,
  runnerMemoryMiB: 256, // troupe.yaml: assistants.memory
  runnerWarm: 1, // troupe.yaml: assistants.warm
  runnerRestarts: 3, // troupe.yaml: assistants.restarts
  runnerLineBytes: 64 * MIB,
  runnerStartMs: 2 * MINUTE,
  runnerGraceMs: 10 * SECOND,
  runnerGarbageBytes: 8 * KIB,
  runnerPendingCalls: 1_000,
} as const;
