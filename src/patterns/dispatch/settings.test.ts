/** What holds where a file says nothing, by value: those of the seed that this pattern comes from. */
import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { catalogueText } from './prompts.ts';
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

it('a catalogue shows so much of each agent and no more, without half a word', () => {
  const [most, long] = [limits.catalogueCharacters, limits.catalogueExampleCharacters];
  const skills = {
    description: `${'d'.repeat(most - 2)} description`,
    tags: ['t'.repeat(most - 2), 'tag'],
    examples: Array.from({ length: limits.catalogueExamples + 1 }, (_, at) => `${at}${'e'.repeat(long - 3)}\n example`),
  };
  const lines = catalogueText(['lights'], [skills], { includeCapabilities: true, includeExamples: true }).split('\n');
  expect([most, long]).toEqual([1_000, 200]);
  expect(lines).toEqual([
    `- lights: ${'d'.repeat(998)}`,
    `  capabilities: ${'t'.repeat(998)},`,
    ...[0, 1, 2, 3, 4].map((at) => `  example: ${at}${'e'.repeat(197)}`),
  ]);
});
