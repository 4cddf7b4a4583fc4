/** The workers of a group: who they are, what they are given, what came of it. A stuck or failed one never holds up the rest. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import type { Failure, Report, RunStatus, Verification } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { About, AgentRun } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { Handle, RunResult, StartOptions } from '../steps.ts';
import { afterRound, type NamedResult, resting, UNCHECKED, unverified, withVerification } from '../verification.ts';

export type GroupConfig = NonNullable<AgentDefinition['group']>;

export interface Worker {
  /** Unique within the group. */
  readonly name: string;
  readonly agent: string;
  /** Takes the place of its agent's own models. */
  readonly model?: string | undefined;
  readonly charter?: string | undefined;
  /** What its agent's file says about it. */
  readonly about?: About | undefined;
}

export interface WorkerOutcome {
  readonly worker: string;
  /** It gave an answer. */
  readonly ok: boolean;
  readonly status: RunStatus;
  /** Whose budget has nothing left, when that ended it. */
  readonly exhausted?: string | undefined;
  readonly error?: Failure | undefined;
  /** The whole answer; of one that failed, why, and what it had. */
  readonly text: string;
  readonly verification: Verification;
  readonly claims?: RunResult['claims'];
}

export interface Task {
  readonly worker: Worker;
  readonly prompt: string;
}

/** `taken` are names that belong to somebody else in the group. */
export function workersOf(config: GroupConfig, taken: readonly string[] = []): Worker[] {
  const used = new Set(taken);
  return (config.workers ?? []).map((one) => {
    const { agent, name = agent, ...rest } = typeof one === 'string' ? { agent: one, name: one } : one;
    let unique = name;
    for (let count = 2; used.has(unique); count += 1) unique = `${name}-${count}`;
    used.add(unique);
    return { name: unique, agent, ...rest };
  });
}

/** The workers with what their agents' files say about them, as it was when the run began. */
export async function introduced(run: AgentRun, workers: readonly Worker[]): Promise<Worker[]> {
  const about = await run.steps.step('workers', async () => await run.about(workers.map((worker) => worker.agent)));
  return workers.map((worker, index) => ({ ...worker, about: about[index] }));
}

/** What somebody may take who is asked on behalf of the group. */
export const LONGEST = { milliseconds: limits.workerTimeoutMs, setting: 'limit workerTimeoutMs' };

/** Starts every task at once and waits for all, each no longer than it may take. */
export async function runTasks(
  run: AgentRun,
  config: GroupConfig,
  key: string,
  tasks: readonly Task[],
): Promise<WorkerOutcome[]> {
  const handles: Handle[] = [];
  for (const task of tasks) handles.push(await startTask(run, config, key, task));
  const results = await run.steps.settled(handles);
  return results.map((result, index) => outcome(tasks[index]?.worker.name ?? '', result));
}

/** A worker that was not done when the results were put together. It goes on, and what it gives is not lost. */
export interface LateTask {
  readonly worker: string;
  readonly handle: Handle;
}

export interface Collected {
  readonly outcomes: readonly WorkerOutcome[];
  readonly late: readonly LateTask[];
}

/**
 * Starts every task at once and takes what comes within `collectTimeout`, also from those that were late before. Nobody does
 * two things at a time: whoever is late and has a new task is waited for.
 */
export async function collectTasks(
  run: AgentRun,
  config: GroupConfig,
  key: string,
  tasks: readonly Task[],
  before: readonly LateTask[] = [],
): Promise<Collected> {
  const isAgain = ({ worker }: LateTask): boolean => tasks.some((task) => task.worker.name === worker);
  const caughtUp = await lateOutcomes(run, before.filter(isAgain));
  const working = before.filter((task) => !isAgain(task));
  for (const task of tasks) {
    const handle = await startTask(run, config, key, task, 'workerTimeout');
    working.push({ worker: task.worker.name, handle });
  }
  const results = await inTime(run, config, key, working);
  const late = working.filter((_task, index) => results[index] === undefined);
  const done = working.flatMap(({ worker }, index) => {
    const result = results[index];
    return result === undefined ? [] : [outcome(worker, result)];
  });
  return { outcomes: [...caughtUp, ...done], late };
}

/** Who may take no longer than all are waited for cannot be late. */
async function inTime(
  run: AgentRun,
  config: GroupConfig,
  key: string,
  working: readonly LateTask[],
): Promise<readonly (RunResult | undefined)[]> {
  const handles = working.map(({ handle }) => handle);
  const { workerTimeout = limits.workerTimeoutMs, collectTimeout = limits.collectTimeoutMs } = config;
  if (workerTimeout <= collectTimeout) return await run.steps.settled(handles);
  return await run.steps.collect(`${key}/collected`, handles, collectTimeout);
}

/** What came of those who were late, once they are done; each has no longer than any other worker. */
export async function lateOutcomes(run: AgentRun, late: readonly LateTask[]): Promise<WorkerOutcome[]> {
  if (late.length === 0) return [];
  const results = await run.steps.settled(late.map(({ handle }) => handle));
  return results.map((result, index) => outcome(late[index]?.worker ?? '', result));
}

/** Shows what came too late to be part of the answer. An answer that a program reads stays as it is. */
export function withLate(result: RunResult, late: readonly WorkerOutcome[]): RunResult {
  if (late.length === 0 || result.report.format === 'json') return result;
  const parts = late.map(({ worker, ok, text }) => `### ${worker}${ok ? '' : ' (failed)'}\n\n${text}`);
  const body = [result.report.body, 'This came too late to be put together (collectTimeout):', ...parts].join('\n\n');
  return resting({ ...result, report: { ...result.report, body } }, partsOf(late.filter(({ ok }) => ok)));
}

/** Where nobody puts results together, nobody is waited for longer than `collectTimeout` either. */
export async function startTask(
  run: AgentRun,
  config: GroupConfig,
  key: string,
  { worker, prompt }: Task,
  longest: 'workerTimeout' | 'both' = 'both',
): Promise<Handle> {
  return await run.steps.start(`${key}/${worker.name}`, worker.agent, userText(prompt), {
    kind: 'pattern',
    role: 'worker',
    reason: `a task of ${run.agent.name}`,
    member: worker.name,
    timeLimit: timeLimit(config, longest),
    model: worker.model,
  });
}

function timeLimit(config: GroupConfig, longest: 'workerTimeout' | 'both'): NonNullable<StartOptions['timeLimit']> {
  const { workerTimeout = limits.workerTimeoutMs, collectTimeout = limits.collectTimeoutMs } = config;
  if (longest === 'both' && collectTimeout < workerTimeout) return { milliseconds: collectTimeout, setting: 'collectTimeout' };
  return { milliseconds: workerTimeout, setting: 'workerTimeout' };
}

export function outcome(worker: string, result: RunResult): WorkerOutcome {
  const { status, report, error, exhausted, verification, claims } = result;
  if (succeeded(result) && report.body.trim() !== '')
    return { worker, ok: true, status, text: reportText(report), verification, claims };
  const why = error?.message ?? (succeeded(result) ? 'It said nothing.' : status);
  const text = report.body.startsWith(why) ? report.body : `${why}\n\n${report.body}`.trim();
  return { worker, ok: false, status, exhausted, error, text, verification: UNCHECKED };
}

/** What the group's own answer rests on. */
export const partsOf = (outcomes: readonly WorkerOutcome[]): readonly NamedResult[] =>
  outcomes.map(({ worker, ok, status, verification, claims }) => ({
    name: worker,
    result: { status: ok ? status : 'failed', verification, claims },
  }));

export const ALL_FAILED = { code: 'all_workers_failed', message: 'Every worker failed.' };

/** What was put together from these answers. Where there are none it rests on nothing, whoever says otherwise. */
export function putTogether(
  synthesis: RunResult,
  outcomes: readonly WorkerOutcome[],
  before: readonly NamedResult[] = [],
): RunResult {
  const parts = afterRound(before, partsOf(outcomes));
  if (outcomes.some(({ ok }) => ok)) return resting(synthesis, parts);
  const why = outcomes.length === 0 ? 'No worker had answered in time (collectTimeout).' : ALL_FAILED.message;
  return resting(withVerification(synthesis, unverified([why])), parts);
}

/** The group's end, when it has nothing left to spend: with what its workers gave until then. */
export function endedAmong(run: AgentRun, outcomes: readonly WorkerOutcome[]): RunResult | undefined {
  const out = ranOut(run, outcomes);
  const said = outcomes.map(({ worker, ok, text }) => ({ who: ok ? worker : `${worker} (failed)`, text }));
  return out === undefined ? undefined : endedEmpty(run, out, said);
}

/** Names who gave nothing. An answer that a program reads stays as it is. */
export function withMissing(report: Report, missing: readonly string[]): Report {
  if (missing.length === 0 || report.format === 'json') return report;
  return { ...report, body: `${report.body}\n\nNothing came from: ${missing.join(', ')}.` };
}

export const missingFrom = (outcomes: readonly WorkerOutcome[]): string[] =>
  outcomes.filter(({ ok }) => !ok).map(({ worker }) => worker);
