import { expect, it } from 'vitest';
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { createActiveTimes } from './active-time.ts';
import { wholePast } from './past.ts';

const run = (name: string): RunId => `run_${name}` as RunId;
const stopped = createVirtualClock(0);

/** Below whom a run is by its name: `root.child` below `root`. A question is the run's only one. */
function payloadOf(type: string, name: string): object {
  const parent = name.split('.').slice(0, -1).join('.');
  if (type !== 'run.started') return { wait: 'question' };
  return {
    origin:
      parent === '' ? { kind: 'person' } : { kind: name.endsWith('assistant') ? 'assistant' : 'pattern', parent: run(parent) },
  };
}

/** Events a second apart; `onLook` hears of each look at a time. */
function story(kinds: readonly (readonly [type: string, run: string, atSecond: number])[], onLook: () => void = () => {}) {
  return kinds.map(([event_type, name, second], index) => ({
    event_type,
    run_id: run(name),
    position: index + 1,
    payload: payloadOf(event_type, name),
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
  const { soFar: before } = createActiveTimes(wholePast(events), stopped);
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
  expect(createActiveTimes(wholePast(events), stopped).soFar(run('root'))).toBe(13_000);
});

it('goes on from what was known where the root was condensed, for the root alone', () => {
  const events = story([
    ['run.started', 'root', 0],
    ['run.started', 'child', 10],
    ['task.summary', 'root', 20],
    ['model.request', 'root', 23],
  ]);
  const state = { heard: 0, activeMs: 1_000_000, facts: { approved: [], members: [] }, held: [], rests: [], begun: [] };
  const { soFar: before } = createActiveTimes({ ...wholePast(events), cut: { run: run('root'), position: 3, state } }, stopped);
  expect([before(run('root')), before(run('child'))]).toEqual([1_003_000, 13_000]);
});

it('costs one look at each event, however many runs are asked about and how often', () => {
  let looks = 0;
  const many = Array.from({ length: 500 }, (_, index) => ['run.started', `r${index}`, index] as const);
  const { soFar } = createActiveTimes(wholePast(story(many, () => (looks += 1))), stopped);
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 500; index += 1) {
      expect(soFar(run(`r${index}`))).toBe((499 - index) * 1_000);
    }
  }
  expect(looks).toBe(500);
});

it('is without the time in which it waits for a person and nothing of it works', () => {
  const events = story([
    ['run.started', 'root', 0],
    ['run.started', 'root.asks', 0],
    ['run.started', 'root.works', 0],
    ['run.started', 'root.assistant', 0],
    ['task.clarify', 'root.asks', 2],
    ['approval.asked', 'root.assistant', 3],
    // The other one works until now; then the root waits as well.
    ['run.ended', 'root.works', 10],
    ['approval.answered', 'root.asks', 30],
    ['model.request', 'root.asks', 33],
    ['run.ended', 'root.asks', 34],
    ['task.clarify', 'root', 35],
    // Nobody was there when this was answered.
    ['approval.answered', 'root', 60],
    ['run.resumed', 'root', 70],
    ['model.request', 'root', 71],
  ]);
  const { soFar } = createActiveTimes(wholePast(events), stopped);
  expect([soFar(run('root')), soFar(run('root.asks')), soFar(run('root.assistant'))]).toEqual([16_000, 6_000, 3_000]);
});

it('is counted in this life as it was before, and rings when it is used up', () => {
  const clock = createVirtualClock(100_000);
  const before = [['run.started', 'root', 0] as const, ['run.started', 'root.asks', 0] as const];
  const { soFar, apply, after } = createActiveTimes(wholePast(story([...before, ['task.clarify', 'root.asks', 4]])), clock);
  const rang: string[] = [];
  after(run('root'), 6_000, () => rang.push(`root ${clock.now()}`));
  after(run('root.asks'), 7_000, () => rang.push(`root.asks ${clock.now()}`));
  after(run('root.asks'), 5_500, () => rang.push('nobody wants to know any more'))();
  clock.after(60_000, () => story([['approval.answered', 'root.asks', 0]]).forEach(apply));
  clock.after(61_000, () => story([['approval.asked', 'root.asks', 0]]).forEach(apply));
  clock.after(70_000, () => story([['approval.answered', 'root.asks', 0]]).forEach(apply));
  while (clock.advance());
  expect(rang).toEqual(['root 171000', 'root.asks 172000']);
  expect([soFar(run('root')), soFar(run('root.asks'))]).toEqual([7_000, 7_000]);
});
