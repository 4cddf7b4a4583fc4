import { describe, expect, it } from 'vitest';
import { evaluateExit, plainJudgement, selfJudged } from './evaluation.ts';

const call = (input: unknown) => evaluateExit().take({ type: 'tool-call', id: 'x', name: 'evaluate', input: input as never });
const DIMENSIONS = { completeness: 0.5, correctness: 1, coherence: 0, actionability: 0.25, toolVerification: 0.75 };

describe('the judge’s form', () => {
  it.each([
    ['a score and a rationale', { score: 0.5, rationale: 'So so.' }],
    ['the five dimensions', { score: 1, rationale: 'Good.', dimensions: DIMENSIONS }],
    ['some of them', { score: 0, rationale: 'Bad.', dimensions: { coherence: 0.1 } }],
  ])('takes %s', (_name, input) => {
    const taken = call(input);
    expect(taken.ok && JSON.parse(taken.value.report.body)).toEqual(input);
    expect(plainJudgement(JSON.stringify(input))).toEqual(taken);
    expect(plainJudgement(`\`\`\`json\n${JSON.stringify(input)}\n\`\`\``)).toEqual(taken);
  });

  it.each([
    ['a score above one', { score: 1.2, rationale: 'x' }],
    ['a score below zero', { score: -0.1, rationale: 'x' }],
    ['a score in words', { score: 'high', rationale: 'x' }],
    ['no score', { rationale: 'x' }],
    ['no rationale', { score: 0.5 }],
    ['an empty rationale', { score: 0.5, rationale: '' }],
    ['a dimension nobody knows', { score: 0.5, rationale: 'x', dimensions: { beauty: 1 } }],
    ['nothing', undefined],
  ])('does not guess: %s is refused', (_name, input) => {
    expect(call(input).ok).toBe(false);
    expect(plainJudgement(JSON.stringify(input) ?? '').ok).toBe(false);
  });

  it('tells whoever just talks to use it', () => {
    const told = plainJudgement('I think it is quite good, maybe 0.95.');
    expect(!told.ok && told.error).toContain('call evaluate');
  });
});

describe('an orchestrator that judges its own work', () => {
  it.each([
    ['complete', 'All there.\n[[GROUP_REFLECT_COMPLETE]]', 1, true, 'All there.'],
    ['needs more', 'Half.\n[[NEEDS_ITERATION]]\nThe rest.', 0.4, false, 'The rest.'],
    ['undecided', 'Something.', 0.7, false, 'Something.'],
    ['both: not complete', 'x\n[[GROUP_REFLECT_COMPLETE]]\n[[NEEDS_ITERATION]]', 0.4, false, 'x'],
    ['in prose', 'I will say [[GROUP_REFLECT_COMPLETE]] later.', 0.7, false, 'I will say [[GROUP_REFLECT_COMPLETE]] later.'],
  ])('%s', (_name, text, score, goalMet, rationale) => {
    expect(selfJudged(text)).toEqual({ kind: 'judged', score, goalMet, rationale });
  });
});
