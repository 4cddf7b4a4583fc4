/**
 * Executors in processes of their own that work on a task in a real repository, hostile ones and honest ones: whatever a hostile
 * one does is contained, recorded and flagged, and no honest one is called into doubt.
 */
import { describe, expect, it } from 'vitest';
import { honestCases } from '../support/executors/honest-cases.ts';
import { hostileCases } from '../support/executors/hostile-cases.ts';
import { playCase, type SeenCase, type TaskCase } from '../support/executors/task-cases.ts';

async function play(one: TaskCase): Promise<SeenCase> {
  const seen = await playCase(one);
  const { verification } = seen.result;
  const reasons = verification.state === 'verified' ? [] : (verification.reasons ?? []);
  try {
    expect({ state: verification.state, reasons }).toEqual({ state: one.state, reasons: expect.any(Array) });
    if (one.why !== undefined) expect(reasons.join('\n')).toMatch(one.why);
    one.check?.(seen);
    return seen;
  } finally {
    seen.clean();
  }
}

it('the table has at least forty hostile executors and twenty-two honest ones', () => {
  expect(hostileCases.length).toBeGreaterThanOrEqual(40);
  expect(honestCases.length).toBeGreaterThanOrEqual(22);
  const names = [...hostileCases, ...honestCases].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe.concurrent('a hostile executor', () => {
  it.each(hostileCases)('that $name', async (one) => {
    await play(one);
  });
});

describe.concurrent('an honest executor', () => {
  it.each(honestCases)('that $name', async (one) => {
    const { result, payloads } = await play(one);
    expect(result.status).toBe('completed');
    expect(payloads('task.captured').flatMap(({ undone }) => undone)).toEqual([]);
    expect(payloads('artifact.manifest').flatMap(({ flagged = [] }) => flagged)).toEqual([]);
    expect(payloads('executor.ended').flatMap(({ notices = [] }) => notices)).toEqual([]);
  });
});
