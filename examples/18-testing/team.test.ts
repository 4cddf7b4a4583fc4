/**
 * A team under test, with the real engine, ledger and tools around it and a model that says what the test wants:
 * `node --test examples/18-testing/team.test.ts`. Works in the same way with vitest, or with any other runner.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTemporaryProject, createVirtualClock } from '../../src/testing/index.ts';

const from = import.meta.dirname;
const checks = { toolCalls: [{ name: 'checker', input: { prompt: 'Teh cat sat.', reason: 'Four eyes see more.' } }] };

test('the editor corrects what the checker finds', async () => {
  await using project = await createTemporaryProject({
    from,
    replies: {
      agents: {
        editor: [checks, { finalReport: 'The cat sat.' }],
        checker: [{ text: 'Teh should be The.' }],
      },
    },
  });
  const result = await project.troupe.run('editor', 'Teh cat sat.');
  assert.equal(result.status, 'completed');
  assert.equal(result.usage.runs, 2);
  // What the editor was told is what the checker said, and nobody was asked more than the script has.
  const [, , last] = project.model.calls;
  assert.match(JSON.stringify(last?.messages.at(-1)), /Teh should be The/);
  assert.equal(project.model.unexpected.length, 0);
});

test('a checker that fails does not stop the editor', async () => {
  await using project = await createTemporaryProject({
    from,
    replies: ({ agent }, call) => {
      if (agent === 'checker') return { error: { kind: 'invalid_request', message: 'no such model' } };
      return call === 0 ? checks : { finalReport: 'Unchecked: Teh cat sat.' };
    },
  });
  const result = await project.troupe.run('editor', 'Teh cat sat.');
  assert.ok(result.status === 'completed' && result.report.body.startsWith('Unchecked'));
});

test('a provider that is busy for a minute costs the test nothing', async () => {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const busy = { kind: 'rate_limited', retryAfterMs: 60_000, times: 1 } as const;
  await using project = await createTemporaryProject({ from, clock, replies: [{ text: 'The cat sat.', error: busy }] });
  const result = await clock.until(project.troupe.run('editor', 'Teh cat sat.'));
  assert.equal(result.status, 'completed');
  assert.ok(clock.elapsed() >= 60_000);
});
