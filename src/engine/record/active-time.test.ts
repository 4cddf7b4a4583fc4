import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { createActiveTimes } from './active-time.ts';
import { wholePast } from './past.ts';

const run = (name: string): RunId => `run_${name}` as RunId;

/** Events a second apart; `onLook` hears of each look at a time. */
function story(kinds: readonly (readonly [type: string, run: string, atSecond: number])[], onLook: () => void = () => {}) {
  return kinds.map(([event_type, name, second], index) => ({
    event_type,
    run_id: run(name),
    position: index + 1,
    payload: {},
    get timestamp() {
      onLook();
      return new Date(second * 1_000).toISOString();
    },
  })) as unknown as LedgerEvent[];
}

it('is the time since the start of the run without the time when nobody drove it', () => {
  const events = story([
    ['run.started', 'root', 0],
    ['model.request', 'root', 5],
    ['run.started', 'child', 10],
    ['model.request', 'child', 12],
    // Nobody was there for a hundred seconds, in which somebody answered.
    ['approval.answered', 'root', 60],
    ['run.resumed', 'root', 112],
    ['model.request', 'child', 115],
  ]);
  const { before } = createActiveTimes(wholePast(events), systemClock);
  expect([before(run('root')), before(run('child')), before(run('nobody'))]).toEqual([15_000, 5_000, 0]);
});

it('is without the time between an end and going on after it', () => {
  const events = story([
    ['run.started', 'root', 0],
    ['run.ended', 'root', 10],
    ['run.reopened', 'root', 1_010],
    ['run.resumed', 'root', 1_012],
    ['model.request', 'root', 1_015],
  ]);
  expect(createActiveTimes(wholePast(events), systemClock).before(run('root'))).toBe(13_000);
});

it('goes on from what was known where the root was condensed, for the root alone', () => {
  const events = story([
    ['run.started', 'root', 0],
    ['run.started', 'child', 10],
    ['task.summary', 'root', 20],
    ['model.request', 'root', 23],
  ]);
  const state = { heard: 0, activeMs: 1_000_000, facts: { approved: [], members: [] }, held: [], rests: [], begun: [] };
  const { before } = createActiveTimes({ ...wholePast(events), cut: { run: run('root'), position: 3, state } }, systemClock);
  expect([before(run('root')), before(run('child'))]).toEqual([1_003_000, 13_000]);
});

it('costs one look at each event, however many runs are asked about and how often', () => {
  let looks = 0;
  const many = Array.from({ length: 500 }, (_, index) => ['run.started', `r${index}`, index] as const);
  const { before, soFar } = createActiveTimes(wholePast(story(many, () => (looks += 1))), systemClock);
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 500; index += 1) {
      expect(before(run(`r${index}`))).toBe((499 - index) * 1_000);
      soFar(run(`r${index}`));
    }
  }
  expect(looks).toBe(500);
});
