/**
 * Hundreds of random simulations of groups: every accepted assignment gets exactly one outcome, no result is lost or cut, every
 * exit but a met goal is marked as cancelled, and there is one loop. `TROUPE_SEEDS` says how many, `TROUPE_SEED` where to
 * begin; a failure names its seed.
 */

import { describe, expect, it } from 'vitest';
import { childRunId, type RunId } from '../../src/base/ids.ts';
import { textOf } from '../../src/events/messages.ts';
import { loopOnlyAs, memberOfGroup, roleInTree } from '../../src/events/run-origin.ts';
import { neutralised } from '../../src/patterns/group/sentinels.ts';
import { only, payloads } from '../support/patterns/group-on-engine.ts';
import { type Luck, type SimulatedGroup, simulateGroup } from '../support/patterns/group-simulation.ts';

const first = Number(process.env['TROUPE_SEED'] ?? 1);
const count = Number(process.env['TROUPE_SEEDS'] ?? 600);
const PART = 100;

function checkSimulated(simulated: SimulatedGroup): void {
  expect(simulated.result, 'it came to an end').toBeDefined();
  expect(simulated.sound, 'the ledger is sound').toBe(true);
  everyRunEndsOnce(simulated);
  everyAssignmentHasOneOutcome(simulated);
  noResultIsLost(simulated);
  everyExitIsMarked(simulated);
  thereIsOneLoop(simulated);
}

function everyRunEndsOnce({ events }: SimulatedGroup): void {
  const starts = only(events, 'run.started').map((event) => event.run_id);
  const ends = only(events, 'run.ended').map((event) => event.run_id);
  expect(new Set(starts).size).toBe(starts.length);
  expect(ends.toSorted()).toEqual(starts.toSorted());
}

/** The runs that an accepted plan leads to, by the keys it was made under. */
function tasksOf({ events, root }: SimulatedGroup): { worker: string; run: RunId; prefix: string }[] {
  return only(events, 'group.planned').flatMap(({ payload, step }) => {
    const prefix = (step ?? '').replace(/plan\/\d+\/planned$/, '');
    if (payload.accepted !== true) return [];
    return payload.assignments.map(({ worker }) => ({ worker, run: childRunId(root, `${prefix}work/${worker}`), prefix }));
  });
}

function everyAssignmentHasOneOutcome(simulated: SimulatedGroup): void {
  const tasks = tasksOf(simulated);
  const worked = only(simulated.events, 'run.started').filter((event) => roleInTree(event.payload) === 'worker');
  if (simulated.group.mode === 'reflect' || simulated.group.mode === 'orchestrator')
    expect(worked.map((event) => event.run_id).toSorted()).toEqual(tasks.map((task) => task.run).toSorted());
  for (const { worker, run } of tasks) {
    expect(worked.filter((event) => event.run_id === run && memberOfGroup(event.payload) === worker)).toHaveLength(1);
    expect(only(simulated.events, 'run.ended').filter((event) => event.run_id === run)).toHaveLength(1);
  }
}

function noResultIsLost(simulated: SimulatedGroup): void {
  const ends = new Map(only(simulated.events, 'run.ended').map((event) => [event.run_id as string, event.payload]));
  const answers = only(simulated.events, 'run.started').flatMap(({ payload }) =>
    loopOnlyAs(payload) === 'speaker' && payload.input.role === 'user' ? [textOf(payload.input.content)] : [],
  );
  for (const { run, worker } of tasksOf(simulated)) {
    const { status, report } = ends.get(run) ?? {};
    const shown = answers.filter((text) => text.includes(neutralised(report?.body ?? '?')));
    expect(shown.length, `what ${worker} said is put together`).toBeGreaterThan(0);
    if (status !== 'completed') expect(shown.some((text) => text.includes(`### ${worker}: failed`))).toBe(true);
  }
  if (simulated.group.mode !== 'broadcast') return;
  for (const event of only(simulated.events, 'run.started').filter(({ payload }) => roleInTree(payload) === 'worker'))
    expect(simulated.result?.report.body).toContain(ends.get(event.run_id)?.report.body);
}

function everyExitIsMarked({ events, group, result }: SimulatedGroup): void {
  const ends = payloads(events, 'group.ended');
  expect(ends).toHaveLength(group.mode === 'reflect' ? 1 : 0);
  for (const { reason, outcome, summary } of ends) {
    const goalMet = outcome === 'met';
    // Nothing left to do is enough only where nobody else judges.
    expect(goalMet).toBe(reason === 'goal_met' || (reason === 'nothing_left' && group.evaluator === undefined));
    expect(outcome === 'cut_off').toBe(reason === 'cancelled' || reason === 'budget_exhausted');
    expect(summary).toMatch(/^Ended after/);
    if (result?.status === 'completed') expect(goalMet).toBe(true);
    if (!goalMet) expect(result?.error?.code).toBe(reason);
  }
}

/** Iterations follow one another, each judged once, and nothing happens in the loop after its end. */
function thereIsOneLoop({ events, root, group }: SimulatedGroup): void {
  const iterations = payloads(events, 'group.evaluated').map(({ iteration }) => iteration);
  expect(iterations).toEqual(iterations.map((_, index) => index + 1));
  expect(iterations.length).toBeLessThanOrEqual(group.maxIterations ?? 0);
  expect(only(events, 'run.started').filter(({ payload }) => payload.depth === 0)).toHaveLength(1);
  const ended = events.findIndex((event) => event.event_type === 'group.ended');
  const later = ended === -1 ? [] : events.slice(ended + 1).filter((event) => event.event_type === 'run.started');
  expect(later).toEqual([]);
  expect(events.findLast((event) => event.run_id === root && event.event_type !== 'run.signalled')?.event_type).toBe('run.ended');
}

describe('a random simulation of a group keeps every promise', () => {
  const luck = new Set<Luck>();
  const reasons = new Set<string>();
  const starts = Array.from({ length: Math.ceil(count / PART) }, (_, index) => first + index * PART);

  it.each(starts)('from seed %i', async (start) => {
    for (let seed = start; seed < Math.min(start + PART, first + count); seed += 1) {
      try {
        const simulated = await simulateGroup(seed);
        checkSimulated(simulated);
        for (const one of simulated.luck) luck.add(one);
        for (const { reason } of payloads(simulated.events, 'group.ended')) reasons.add(reason);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`seed ${seed} (again with TROUPE_SEED=${seed} TROUPE_SEEDS=1): ${why}`, { cause: error });
      }
    }
  });

  it.skipIf(count < 300)('has met every misfortune and every way out', () => {
    expect([...luck].toSorted()).toEqual(['cancel', 'death', 'pause', 'stop']);
    expect([...reasons].toSorted()).toEqual([
      'all_failed',
      'cancelled',
      'error_budget',
      'goal_met',
      'max_iterations',
      'no_assignments',
      'nothing_left',
      'stalled',
    ]);
  });

  it('is the same for the same seed', async () => {
    const [once, again] = [await simulateGroup(first), await simulateGroup(first)];
    expect(again.events.map((event) => event.payload)).toEqual(once.events.map((event) => event.payload));
  });
});
