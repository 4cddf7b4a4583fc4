/**
 * How far a group is: the phase, the iteration, who works on what, the scores so far and, at the end, which rule ended it.
 * Folded with the tree of runs, so that the terminal, the console and a later look at the ledger show the same.
 */

import type { RunId } from '../../base/ids.ts';
import type { Payloads, Verification } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { memberOfGroup, parentRun, roleInTree } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';

export type GroupPhase = 'planning' | 'working' | 'synthesising' | 'evaluating' | 'ended';

export interface WorkerProgress {
  readonly worker: string;
  /** What it was given, when somebody divided the work. */
  readonly task: string | null;
  readonly run: RunId | null;
  readonly state: 'assigned' | 'working' | 'done' | 'failed';
  /** What its answer was found to be worth, once it is done. */
  readonly verification?: Verification['state'];
}

export interface Iteration {
  readonly iteration: number;
  readonly workers: readonly WorkerProgress[];
  readonly score: number | null;
  readonly trend: Payloads['group.evaluated']['trend'] | null;
  /** How many iterations in a row have said the same. */
  readonly stalled: number;
  /** How often the orchestrator had to be asked again for its plan. */
  readonly nudges: number;
  /** Names to which it assigned something and which no worker has. */
  readonly unknown: readonly string[];
  /** The orchestrator gave the answer itself. */
  readonly direct: boolean;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface GroupProgress {
  readonly run: RunId;
  readonly agent: string;
  readonly phase: GroupPhase;
  readonly iterations: readonly Iteration[];
  readonly stop: Payloads['group.ended']['reason'] | null;
  readonly summary: string | null;
}

export interface GroupsProgress {
  /** By the run of the group. */
  readonly groups: Map<RunId, GroupProgress>;
  readonly agents: Map<RunId, string>;
  /** The runs of workers that have not ended, and whose they are. */
  readonly workers: Map<RunId, { readonly group: RunId; readonly worker: string }>;
}

export const initialGroups = (): GroupsProgress => ({ groups: new Map(), agents: new Map(), workers: new Map() });

/** Updates and returns the accumulator it was given; what it holds is replaced, never changed. */
export function foldGroups(state: GroupsProgress, event: LedgerEvent): GroupsProgress {
  switch (event.event_type) {
    case 'run.started':
      begin(state, event);
      break;
    case 'run.ended':
      end(state, event);
      break;
    case 'run.reopened':
      reopen(state, event);
      break;
    case 'group.planned':
      plan(state, event);
      break;
    case 'group.evaluated': {
      const { iteration, score, trend } = event.payload;
      change(state, event.run_id, iteration, at(event), (one) => ({ ...one, score, trend, endedAt: at(event) }));
      break;
    }
    case 'group.stalled': {
      const { iteration, consecutive } = event.payload;
      change(state, event.run_id, iteration, at(event), (one) => ({ ...one, stalled: consecutive }));
      break;
    }
    case 'group.ended': {
      const { reason, summary } = event.payload;
      const group = groupOf(state, event.run_id);
      state.groups.set(event.run_id, { ...group, phase: 'ended', stop: reason, summary });
      break;
    }
  }
  return state;
}

const at = (event: LedgerEvent): number => Date.parse(event.timestamp);

function begin(state: GroupsProgress, event: EventOf<'run.started'>): void {
  const { agent } = event.payload;
  const role = roleInTree(event.payload);
  state.agents.set(event.run_id, agent);
  const parent = parentRun(event.payload) as RunId | undefined;
  if (parent === undefined) return;
  if (role === 'evaluator') enter(state, parent, 'evaluating');
  else if (role === 'orchestrator') enter(state, parent, allAnswered(state.groups.get(parent)) ? 'synthesising' : 'planning');
  else if (role === 'worker') {
    const worker = memberOfGroup(event.payload) ?? agent;
    const group = enter(state, parent, 'working');
    const { iteration } = group.iterations.at(-1) ?? { iteration: 1 };
    change(state, parent, iteration, at(event), (one) => withWorker(one, worker, { run: event.run_id, state: 'working' }));
    state.workers.set(event.run_id, { group: parent, worker });
  }
}

function end(state: GroupsProgress, event: EventOf<'run.ended'>): void {
  const own = state.groups.get(event.run_id);
  if (own !== undefined) {
    const iterations = own.iterations.map((one) => ({ ...one, endedAt: one.endedAt ?? at(event) }));
    state.groups.set(event.run_id, { ...own, iterations, phase: 'ended' });
  }
  const worker = state.workers.get(event.run_id);
  if (worker === undefined) return;
  state.workers.delete(event.run_id);
  const { status, verification } = event.payload;
  const done = succeeded({ status });
  // Somebody who was late belongs to the iteration that gave the task.
  const asked = groupOf(state, worker.group).iterations.find((one) => one.workers.some(({ run }) => run === event.run_id));
  if (asked === undefined) return;
  const ended = done ? ({ state: 'done', verification: verification.state } as const) : ({ state: 'failed' } as const);
  change(state, worker.group, asked.iteration, at(event), (one) =>
    withWorker(one, worker.worker, { run: event.run_id, ...ended }),
  );
}

/** A group whose run goes on has not stopped; a worker that goes on is at work again. */
function reopen(state: GroupsProgress, event: EventOf<'run.reopened'>): void {
  const own = state.groups.get(event.run_id);
  if (own !== undefined) {
    const iterations = own.iterations.map((one) => (one.score === null ? { ...one, endedAt: null } : one));
    state.groups.set(event.run_id, { ...own, iterations, phase: 'working', stop: null, summary: null });
  }
  for (const [group, { iterations }] of state.groups)
    for (const { iteration, workers } of iterations)
      for (const { worker, run } of workers) {
        if (run !== event.run_id) continue;
        state.workers.set(event.run_id, { group, worker });
        change(state, group, iteration, at(event), (one) => withWorker(one, worker, { run: event.run_id, state: 'working' }));
      }
}

function plan(state: GroupsProgress, event: EventOf<'group.planned'>): void {
  const { iteration, assignments, nudges, unknown, direct = false } = event.payload;
  enter(state, event.run_id, 'planning');
  change(state, event.run_id, iteration, at(event), (one) => ({
    ...one,
    nudges,
    unknown: [...new Set([...one.unknown, ...unknown])],
    direct,
    workers: assignments.map(({ worker, task }) => ({ worker, task, run: null, state: 'assigned' as const })),
  }));
}

function groupOf(state: GroupsProgress, run: RunId): GroupProgress {
  const agent = state.agents.get(run) ?? '-';
  return state.groups.get(run) ?? { run, agent, phase: 'planning', iterations: [], stop: null, summary: null };
}

function enter(state: GroupsProgress, run: RunId, phase: GroupPhase): GroupProgress {
  const group = { ...groupOf(state, run), phase };
  state.groups.set(run, group);
  return group;
}

/** Everybody who was given something has ended: what the orchestrator is asked next is to put it together. */
function allAnswered(group: GroupProgress | undefined): boolean {
  const last = group?.iterations.at(-1);
  if (last === undefined || last.workers.length === 0 || last.score !== null) return false;
  return last.workers.every(({ state }) => state === 'done' || state === 'failed');
}

function change(state: GroupsProgress, run: RunId, iteration: number, now: number, next: (one: Iteration) => Iteration): void {
  const group = groupOf(state, run);
  const known = group.iterations.find((one) => one.iteration === iteration);
  const nothing = { workers: [], score: null, trend: null, stalled: 0, nudges: 0, unknown: [], direct: false };
  const blank: Iteration = { ...nothing, iteration, startedAt: now, endedAt: null };
  const changed = next(known ?? blank);
  const others = group.iterations.filter((one) => one.iteration !== iteration);
  const iterations = [...others, changed].sort((left, right) => left.iteration - right.iteration);
  state.groups.set(run, { ...group, iterations });
}

function withWorker(one: Iteration, worker: string, changes: Pick<WorkerProgress, 'run' | 'state' | 'verification'>): Iteration {
  const known = one.workers.some((entry) => entry.worker === worker);
  if (!known) return { ...one, workers: [...one.workers, { worker, task: null, ...changes }] };
  return { ...one, workers: one.workers.map((entry) => (entry.worker === worker ? { ...entry, ...changes } : entry)) };
}
