/** What the agent's file says about how it hands tasks over, with what holds where it says nothing. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Convergence } from '../../events/tasks/convergence.ts';

export type ArchitectConfig = NonNullable<AgentDefinition['architect']>;
export type ArchitectSettings = ReturnType<typeof architectSettings>;

export function architectSettings(config: ArchitectConfig) {
  const { limits: own = {}, failurePolicy = {} } = config;
  return {
    executors: [config.executor, ...(config.fallbackExecutors ?? []).filter((name) => name !== config.executor)],
    clarifyRounds: own.maxClarifyRounds ?? limits.clarifyRounds,
    maxCliCalls: own.maxCliCalls ?? limits.taskCliCalls,
    maxDurationMs: own.maxDuration ?? limits.taskDurationMs,
    maxMemoryMb: own.maxMemory ?? limits.taskMemoryMiB,
    maxUsd: own.maxUsd,
    sameErrors: own.maxSameErrorRetries ?? limits.taskSameErrors,
    summarizeEvents: own.summarizeThreshold ?? limits.summarizeEvents,
    stallAfterMs: own.stallAfter ?? limits.taskStallMs,
    onRepeatedError: failurePolicy.onRepeatedError ?? 'downgrade_executor',
    onTimeout: failurePolicy.onTimeout ?? 'cancel_and_report',
    workspace: config.workspace,
    // Work in one folder is never side by side: nobody could tell whose change is whose.
    parallel: config.workspace === 'in-place' ? 1 : (config.parallel ?? 1),
  } as const;
}

const seconds = (milliseconds: number): number => Math.ceil(milliseconds / 1_000);

/** The limits under the names by which they are recorded. */
export function convergenceConfig(settings: ArchitectSettings): Convergence {
  return {
    limits: {
      max_clarify_rounds_per_task: settings.clarifyRounds,
      max_cli_calls_per_task: settings.maxCliCalls,
      max_cli_duration_seconds: seconds(settings.maxDurationMs),
      max_cli_memory_mb: settings.maxMemoryMb,
      max_same_error_retries: settings.sameErrors,
      context_summarize_threshold: settings.summarizeEvents,
      ...present({ max_usd_per_task: settings.maxUsd }),
      max_seconds_without_progress: seconds(settings.stallAfterMs),
    },
    failure_policy: { on_repeated_error: settings.onRepeatedError, on_timeout: settings.onTimeout },
    summarization: { mode: 'event_level', keep_original_refs: true },
  };
}
