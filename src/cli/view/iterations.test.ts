import { describe, expect, it } from 'vitest';
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { foldGroups, type GroupProgress, initialGroups } from '../../projections/patterns/group-progress.ts';
import { initialRunTree } from '../../projections/run-tree.ts';
import { iterationLines, progressText } from './iterations.ts';

let position = 0;
const event = (event_type: string, run_id: string, payload: object): LedgerEvent => {
  position += 1;
  return { event_type, run_id, payload, position, timestamp: new Date(position * 1_000).toISOString() } as unknown as LedgerEvent;
};
const started = (run: string, agent: string, role?: string, member?: string): LedgerEvent =>
  event('run.started', run, {
    agent,
    origin: role === undefined ? { kind: 'person' } : { kind: 'pattern', role, parent: 'desk', member },
  });
const ended = (run: string, status = 'completed'): LedgerEvent =>
  event('run.ended', run, { status, verification: { state: 'unchecked' } });
const planned = (iteration: number, ...workers: string[]): LedgerEvent =>
  event('group.planned', 'desk', {
    iteration,
    assignments: workers.map((worker) => ({ worker, task: `the part of ${worker}` })),
    unknown: [],
    nudges: 0,
    accepted: true,
  });
const evaluated = (iteration: number, score: number, trend: string): LedgerEvent =>
  event('group.evaluated', 'desk', { iteration, score, trend, rationale: '', evaluator: 'judge', goalMet: score >= 0.9 });

const story: readonly (readonly [LedgerEvent, string])[] = [
  [started('desk', 'desk'), ''],
  [started('p1', 'desk', 'orchestrator'), 'desk: iteration 1, planning'],
  [ended('p1'), 'desk: iteration 1, planning'],
  [planned(1, 'coder', 'tester'), 'desk: iteration 1, planning'],
  [started('w1', 'dev', 'worker', 'coder'), 'desk: iteration 1, working: coder (the part of coder)'],
  [
    started('w2', 'dev', 'worker', 'tester'),
    'desk: iteration 1, working: coder (the part of coder), tester (the part of tester)',
  ],
  [ended('w1'), 'desk: iteration 1, working: tester (the part of tester)'],
  [ended('w2', 'failed'), 'desk: iteration 1, working'],
  [started('s1', 'desk', 'orchestrator'), 'desk: iteration 1, synthesising'],
  [started('e1', 'judge', 'evaluator'), 'desk: iteration 1, evaluating'],
  [evaluated(1, 0.5, 'stable'), 'desk: iteration 1, evaluating · score 0.50, stable'],
  [started('p2', 'desk', 'orchestrator'), 'desk: iteration 2, planning · score 0.50, stable'],
  [planned(2, 'coder'), 'desk: iteration 2, planning · score 0.50, stable'],
  [started('w3', 'dev', 'worker', 'coder'), 'desk: iteration 2, working: coder (the part of coder) · score 0.50, stable'],
  [evaluated(2, 0.95, 'improving'), 'desk: iteration 2, working: coder (the part of coder) · score 0.95, improving'],
  [
    event('group.ended', 'desk', { outcome: 'met', reason: 'goal_met', iterations: 2, summary: 'met' }),
    'desk: iteration 2, ended · score 0.95, improving',
  ],
];

describe('how far a group is', () => {
  it('is phase, iteration, who works on what, score and trend, after every event', () => {
    const state = initialGroups();
    for (const [one, expected] of story) {
      foldGroups(state, one);
      const group = state.groups.get('desk' as RunId);
      expect(group === undefined ? '' : progressText(group)).toBe(expected);
    }
    const group = state.groups.get('desk' as RunId) as GroupProgress;
    expect(group).toMatchObject({
      stop: 'goal_met',
      iterations: [
        {
          iteration: 1,
          score: 0.5,
          workers: [
            { worker: 'coder', state: 'done', verification: 'unchecked' },
            { worker: 'tester', state: 'failed' },
          ],
        },
        { iteration: 2, score: 0.95, trend: 'improving', workers: [{ worker: 'coder', run: 'w3' }] },
      ],
    });
  });

  it('is the same when a worker that was cut off is begun again', () => {
    const state = initialGroups();
    for (const one of [started('desk', 'desk'), planned(1, 'coder'), started('w1', 'dev', 'worker', 'coder')])
      foldGroups(state, one);
    foldGroups(state, ended('w1', 'failed'));
    foldGroups(state, started('w2', 'dev', 'worker', 'coder'));
    expect(state.groups.get('desk' as RunId)?.iterations[0]?.workers).toMatchObject([
      { worker: 'coder', run: 'w2', state: 'working' },
    ]);
  });
});

describe('the table of iterations', () => {
  const noteOf = (...plans: readonly object[]): string => {
    const events = [
      started('desk', 'desk'),
      ...plans.map((plan) => event('group.planned', 'desk', { iteration: 1, assignments: [], unknown: [], ...plan })),
    ];
    const progress = events.reduce(foldGroups, initialGroups());
    const tree = { ...initialRunTree(), progress };
    tree.runs.set('desk' as RunId, { run: 'desk', children: [] } as never);
    return iterationLines(tree, 'desk' as RunId, 0).join('\n');
  };

  it('says of an orchestrator that does the work itself that it was told to delegate', () => {
    expect(noteOf({ nudges: 0 }, { nudges: 2 })).toContain('told 2 times to delegate');
  });

  it('says of one that named workers who are not there which names they were', () => {
    const note = noteOf({ nudges: 0, unknown: ['ghost'] }, { nudges: 1, unknown: ['ghost', 'spook'] });
    expect(note).toContain('no worker is named ghost, spook; was told 1 time');
    expect(note).not.toContain('delegate');
  });
});
