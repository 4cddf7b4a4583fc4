/** The workers of a group: who they are, what they are given, what came of it. A stuck or failed one never holds up the rest. */
import type { AgentDefinition } from '../agents/definition.ts';
import { limits } from '../base/limits.ts';
import type { Report, RunStatus, Verification } from '../events/catalogue.ts';
import { userText } from '../events/messages.ts';
import { type About, type AgentRun, succeeded } from './agent-run.ts';
import type { Handle, RunResult } from './steps.ts';
import { afterRound, type Part, resting, UNCHECKED, unverified, withVerification } from './verification.ts';

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

export async function startTask(run: AgentRun, config: GroupConfig, key: string, { worker, prompt }: Task): Promise<Handle> {
  const timeoutMs = Math.min(config.workerTimeout ?? limits.workerTimeoutMs, config.collectTimeout ?? limits.collectTimeoutMs);
  return await run.steps.start(`${key}/${worker.name}`, worker.agent, userText(prompt), {
    role: 'worker',
    reason: `a task of ${run.agent.name}`,
    member: worker.name,
    timeoutMs,
    ...(worker.model === undefined ? {} : { model: worker.model }),
  });
}

export function outcome(worker: string, result: RunResult): WorkerOutcome {
  const { status, report, error, verification, claims } = result;
  if (succeeded(result) && report.body.trim() !== '')
    return { worker, ok: true, status, text: report.body, verification, claims };
  const why = error?.message ?? (succeeded(result) ? 'It said nothing.' : status);
  const text = report.body === why ? why : `${why}\n\n${report.body}`.trim();
  return { worker, ok: false, status, text, verification: UNCHECKED };
}

/** What the group's own answer rests on. */
export const partsOf = (outcomes: readonly WorkerOutcome[]): readonly Part[] =>
  outcomes.map(({ worker, ok, status, verification, claims }) => ({
    name: worker,
    result: { status: ok ? status : 'failed', verification, claims },
  }));

export const ALL_FAILED = { code: 'all_workers_failed', message: 'Every worker failed.' };

/** What was put together from these answers. Where there are none it rests on nothing, whoever says otherwise. */
export function putTogether(synthesis: RunResult, outcomes: readonly WorkerOutcome[], before: readonly Part[] = []): RunResult {
  const parts = afterRound(before, partsOf(outcomes));
  if (outcomes.some(({ ok }) => ok)) return resting(synthesis, parts);
  return resting(withVerification(synthesis, unverified([ALL_FAILED.message])), parts);
}

/** Names who gave nothing. An answer that a program reads stays as it is. */
export function withMissing(report: Report, missing: readonly string[]): Report {
  if (missing.length === 0 || report.format === 'json') return report;
  return { ...report, body: `${report.body}\n\nNothing came from: ${missing.join(', ')}.` };
}

export const missingFrom = (outcomes: readonly WorkerOutcome[]): string[] =>
  outcomes.filter(({ ok }) => !ok).map(({ worker }) => worker);
