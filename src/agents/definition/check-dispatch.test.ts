/** What `troupe check` says about a dispatch. */
import { expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { loadAgent } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';

async function problems(...lines: readonly string[]): Promise<readonly string[]> {
  await using project = await temporaryProject();
  const path = await project.write('agents/a.md', ['---', ...lines, '---', 'Do it.', ''].join('\n'));
  const result = await loadAgent({ path, root: project.root });
  return (result.ok ? result.value.diagnostics : result.error).map(formatDiagnostic);
}

const EVERY_KEY = [
  'dispatch:',
  '  agents: [b, c]',
  '  model: ollama/phi3',
  '  confidenceThreshold: 0.7',
  '  maxAttempts: 3',
  '  temperature: 0.3',
  '  maxOutputTokens: 500',
  '  systemPrompt: Choose.',
  '  userPromptTemplate: "{0} {1}"',
  '  catalogueHeader: "Agents:"',
  '  includeCapabilities: true',
  '  includeExamples: true',
  '  cache: true',
  '  dryRun: false',
  '  clarification: ask',
  '  clarificationPromptTemplate: What?',
  '  fallback: d',
  '  fallbackReasonTemplate: "{reason}"',
  '  timeout: 30s',
  '  retries: 2',
  '  retryDelay: 1s',
  '  needsInput: false',
  '  priority: [c, d]',
  '  join: false',
  '  partialFailureTemplate: "{failureMessage} {successMessage}"',
  '  fallbackMessage: Sorry.',
];

it('takes every key', async () => {
  expect(await problems(...EVERY_KEY)).toEqual([]);
});

it.each([
  [
    'a template without its place',
    [
      '  userPromptTemplate: "Choose for {0}"',
      '  fallbackReasonTemplate: "Sorry"',
      '  partialFailureTemplate: "{successMessage}"',
    ],
    [
      'agents/a.md:4:23: error: "dispatch.userPromptTemplate" has no {catalogue}\n  fix: Write {catalogue} where it belongs.',
      'agents/a.md:5:27: error: "dispatch.fallbackReasonTemplate" has no {reason}\n  fix: Write {reason} where it belongs.',
      'agents/a.md:6:27: error: "dispatch.partialFailureTemplate" has no {failureMessage}\n  fix: Write {failureMessage} where it belongs.',
    ],
  ],
  [
    'an agent that is to ask and does not know what about',
    ['  clarification: d', '  clarificationPromptTemplate: "Ask: {reasoning}"'],
    [
      'agents/a.md:5:32: error: "dispatch.clarificationPromptTemplate" has no {request}\n  fix: Write {request} where it belongs.',
    ],
  ],
  [
    'priority for a stranger',
    ['  priority: [c, bb]'],
    ['agents/a.md:4:17: error: "bb" has priority but is not dispatched to\n  fix: Did you mean "b"?'],
  ],
  ['more attempts than there may be', ['  retries: 11'], ['agents/a.md:4:12: error: "dispatch.retries" must be at most 10']],
  [
    'a key that is none',
    ['  fallbak: d'],
    ['agents/a.md:4:3: error: unknown key "fallbak" in "dispatch"\n  fix: Did you mean "fallback"?'],
  ],
  [
    'an answer as JSON',
    ['output: { format: json }'],
    [
      'agents/a.md:4:1: error: "output" as JSON cannot stand beside "dispatch"\n  fix: Remove it, or hand the answer over to an agent that gives it this form: `handoff`.',
    ],
  ],
])('%s', async (_name, lines, said) => {
  expect(await problems('dispatch:', '  agents: [b, c]', ...lines)).toEqual(said);
});

it.each([
  ['dispatch: { agents: [] }', 'every request fails'],
  ['dispatch: { agents: [], fallback: b }', 'every request goes to "b"'],
])('warns of nobody: %s', async (line, what) => {
  expect(await problems(line)).toEqual([
    `agents/a.md:2:21: warning: there is nobody to choose from: ${what}\n  fix: Name the agents under \`agents\`.`,
  ]);
});
