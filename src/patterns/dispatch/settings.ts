/** What the agent's file says about how it sends requests on, with what holds where it says nothing. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { clarifier } from '../../agents/definition/references.ts';
import { limits } from '../../base/limits.ts';

export type DispatchConfig = NonNullable<AgentDefinition['dispatch']>;
export type DispatchSettings = ReturnType<typeof dispatchSettings>;

/** Stand for an agent in what is recorded where the file names none. */
const NO_CLARIFIER = 'clarification-agent';
const NO_FALLBACK = 'fallback-agent';

export function dispatchSettings(config: DispatchConfig) {
  return {
    ...config,
    confidenceThreshold: config.confidenceThreshold ?? limits.choiceConfidence,
    maxAttempts: config.maxAttempts ?? limits.choiceAttempts,
    temperature: config.temperature ?? limits.choiceTemperature,
    maxOutputTokens: config.maxOutputTokens ?? limits.choiceOutputTokens,
    includeCapabilities: config.includeCapabilities ?? true,
    includeExamples: config.includeExamples ?? true,
    cache: config.cache ?? false,
    clarifier: clarifier(config),
    clarificationId: clarifier(config) ?? NO_CLARIFIER,
    fallbackId: config.fallback ?? NO_FALLBACK,
    timeout: config.timeout ?? limits.dispatchTimeoutMs,
    retries: config.retries ?? limits.dispatchRetries,
    retryDelay: config.retryDelay ?? limits.dispatchRetryMs,
    needsInput: config.needsInput ?? true,
    priority: config.priority ?? [],
    join: config.join ?? true,
    partialFailureTemplate: config.partialFailureTemplate ?? '{successMessage} However, {failureMessage}',
    fallbackMessage: config.fallbackMessage ?? 'I encountered an issue processing your request. Please try again.',
  } as const;
}
