/**
 * Groups: the same prompt to all (`broadcast`), one after the other (`sequential`), plan and divide (`orchestrator`), and the
 * same in a loop until the goal is met (`reflect`). The declaring agent is the orchestrator.
 */
import { textOf, type UserMessage } from '../events/messages.ts';
import { type AgentRun, succeeded } from './agent-run.ts';
import { divide, plan, synthesise } from './group-orchestrator.ts';
import { reflect } from './group-reflect.ts';
import { type GroupConfig, outcome, runTasks, startTask, type Worker, type WorkerOutcome, workersOf } from './group-workers.ts';
import { neutralised } from './sentinels.ts';
import type { RunResult } from './steps.ts';

export async function runGroup(run: AgentRun, config: GroupConfig, request: UserMessage): Promise<RunResult> {
  const workers = workersOf(config);
  switch (config.mode) {
    case 'broadcast':
      return await broadcast(run, config, workers, textOf(request.content));
    case 'sequential':
      return await sequential(run, config, workers, textOf(request.content));
    case 'orchestrator':
      return await singlePass(run, config, workers, textOf(request.content));
    case 'reflect':
      return await reflect(run, config, workers, textOf(request.content));
  }
}

async function broadcast(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const tasks = workers.map((worker) => ({
    worker,
    prompt: worker.charter === undefined ? request : `${worker.charter}\n\n${request}`,
  }));
  return sideBySide(run, await runTasks(run, config, 'broadcast', tasks));
}

async function sequential(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const outcomes: WorkerOutcome[] = [];
  for (const worker of workers) {
    const before = outcomes.map(({ worker: name, text }) => `### ${name}\n\n${neutralised(text)}`);
    const seen = before.length === 0 ? [] : ['## What the others have said', ...before];
    const prompt = [...(worker.charter === undefined ? [] : [worker.charter]), '## Request', request, ...seen].join('\n\n');
    const [result] = await run.steps.settled([await startTask(run, config, 'sequence', { worker, prompt })]);
    outcomes.push(outcome(worker.name, result as RunResult));
  }
  const last = outcomes.findLast(({ ok }) => ok);
  if (last === undefined) return sideBySide(run, outcomes);
  const failed = outcomes.filter(({ ok }) => !ok).map(({ worker }) => worker);
  return answer(run, failed.length === 0 ? last.text : `${last.text}\n\nNothing came from: ${failed.join(', ')}.`, true);
}

async function singlePass(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const planned = await plan(run, config, workers, { key: 'plan', request, iteration: 1 });
  if (planned.kind !== 'assigned') return planned.result;
  const outcomes = await divide(run, config, workers, planned, { key: 'work', request });
  const synthesis = await synthesise(run, {
    key: 'synthesis',
    outcomes,
    missing: [],
    continues: planned.orchestrator,
    mode: 'answer',
  });
  return succeeded(synthesis) ? { ...synthesis, finalAgent: run.agent.name } : withWhatThereIs(run, outcomes, synthesis);
}

/** The answers under their names. What failed is named; all failed is still an answer, but not a success. */
function sideBySide(run: AgentRun, outcomes: readonly WorkerOutcome[]): RunResult {
  const body = outcomes.map(({ worker, ok, text }) => `### ${worker}${ok ? '' : ' (failed)'}\n\n${text}`).join('\n\n');
  return answer(
    run,
    body,
    outcomes.some(({ ok }) => ok),
  );
}

function withWhatThereIs(run: AgentRun, outcomes: readonly WorkerOutcome[], failure: RunResult): RunResult {
  const { report } = sideBySide(run, outcomes);
  const why = failure.error?.message ?? failure.status;
  return {
    ...failure,
    report: { ...report, body: `The results could not be put together (${why}). They are:\n\n${report.body}`, synthetic: true },
  };
}

function answer(run: AgentRun, body: string, success: boolean): RunResult {
  return {
    status: success ? 'completed' : 'failed',
    report: { format: 'markdown', body, ...(success ? {} : { synthetic: true }) },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: success ? undefined : { code: 'all_workers_failed', message: 'Every worker failed.' },
  };
}
