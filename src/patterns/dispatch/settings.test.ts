/** What holds where a file says nothing, by value: those of the seed that this pattern comes from. */
import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { dispatchSettings } from './settings.ts';

it('a dispatch of which nothing is said', () => {
  expect(dispatchSettings({ agents: ['lights'] })).toEqual({
    agents: ['lights'],
    confidenceThreshold: 0.7,
    maxAttempts: 3,
    temperature: 0.3,
    maxOutputTokens: 500,
    includeCapabilities: true,
    includeExamples: true,
    cache: false,
    clarifier: undefined,
    clarificationId: 'clarification-agent',
    fallbackId: 'fallback-agent',
    timeout: 30_000,
    retries: 2,
    retryDelay: 1_000,
    needsInput: true,
    priority: [],
    join: true,
    partialFailureTemplate: '{successMessage} However, {failureMessage}',
    fallbackMessage: 'I encountered an issue processing your request. Please try again.',
  });
});

it('tasks of which nothing is said', () => {
  expect([limits.taskHistory, limits.taskTtlMs]).toEqual([50, 24 * 60 * 60 * 1_000]);
});
