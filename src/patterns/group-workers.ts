/** The workers of a group: who they are, what they are given, and what came of it. A stuck or failed one never holds up the rest. */
import type { AgentDefinition } from '../agents/definition.ts';
import { limits } from '../base/limits.ts';
import { userText } from '../events/messages.ts';
import { type AgentRun, succeeded } from './agent-run.ts';
import type { Handle, RunResult } from './steps.ts';

export type GroupConfig = NonNullable<AgentDefinition['group']>;

export interface Worker {
  /** Unique within the group. */
  readonly name: string;
  readonly agent: string;
  readonly model?: string | undefined;
  readonly charter?: string | undefined;
}

export interface WorkerOutcome {
  readonly worker: string;
  readonly ok: boolean;
  readonly text: string;
}

export interface Task {
  readonly worker: Worker;
  readonly prompt: string;
}

export function workersOf(config: GroupConfig): Worker[] {
  const taken = new Set<string>();
  return config.workers.map((one) => {
    const { agent, name = agent, ...rest } = typeof one === 'string' ? { agent: one, name: one } : one;
    let unique = name;
    for (let count = 2; taken.has(unique); count += 1) unique = `${name}-${count}`;
    taken.add(unique);
    return { name: unique, agent, ...rest };
  });
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
  const ok = succeeded(result);
  const text = ok ? result.report.body : `${result.error?.message ?? result.status}\n\n${result.report.body}`.trim();
  return { worker, ok, text };
}
