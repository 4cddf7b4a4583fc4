import { describe, expect, it } from 'vitest';
import { UNCHECKED } from '../verification.ts';
import { adviceFor } from './advice.ts';
import type { WorkerOutcome } from './workers.ts';

const plain = { verification: UNCHECKED };
const long = 'A long and useful answer. '.repeat(10);
const gave = (worker: string, text: string): WorkerOutcome => ({ worker, ok: true, status: 'completed', text, ...plain });
const failed = (worker: string): WorkerOutcome => ({ worker, ok: false, status: 'failed', text: 'no key', ...plain });
const workers = [
  { name: 'coder', agent: 'coder', model: 'test/small' },
  { name: 'tester', agent: 'tester' },
];

describe('what an orchestrator is advised', () => {
  it.each([
    ['all is well', [gave('coder', long)], [0.5, 0.5], 'moving', []],
    ['a worker failed', [failed('coder'), gave('tester', long)], [], 'moving', [/^coder failed/]],
    [
      'a short answer names the model',
      [gave('coder', 'ok')],
      [],
      'moving',
      [/^coder answered with 2 characters \(model test\/small\)/],
    ],
    ['a short answer without a model', [gave('tester', 'ok')], [], 'moving', [/^tester answered with 2 characters:/]],
    ['the score fell', [], [0.8, 0.6], 'moving', [/^The score fell from 0.8 to 0.6.*change the models/]],
    ['the score fell a little', [], [0.8, 0.7], 'moving', []],
    ['it only fell earlier', [], [0.8, 0.6, 0.6], 'moving', []],
    ['nearly the same again', [], [], 'warn', [/almost the same/]],
    ['all at once', [failed('tester')], [0.9, 0.1], 'warn', [/tester failed/, /score fell/, /almost the same/]],
  ] as const)('%s', (_name, outcomes, scores, verdict, expected) => {
    const advice = adviceFor(outcomes, workers, scores, verdict);
    expect(advice).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(advice[index]).toMatch(pattern);
  });
});
