/**
 * Groups: the same prompt to all (`broadcast`), one after the other (`sequential`), plan and divide (`orchestrator`), and the
 * same in a loop until the goal is met (`reflect`). The declaring agent is the orchestrator; a loop without workers is its own.
 */

import { shortId } from '../../base/ids.ts';
import { textOf, type UserMessage } from '../../events/messages.ts';
import { goesOnAsItIs } from '../../events/outside-reason.ts';
import { succeeded } from '../../events/succeeded.ts';
import { type AgentRun, wasStopped } from '../agent-run.ts';
import { checkedTogether } from '../side-by-side.ts';
import type { RunResult } from '../steps.ts';
import { afterRound, type NamedResult, resting, together, UNCHECKED, withVerification } from '../verification.ts';
import { ownWork } from './alone.ts';
import { type Assigned, allMissing, divide, plan, synthesise } from './orchestrator.ts';
import { sharedPrompt } from './prompts.ts';
import { reflect } from './reflect.ts';
import { groupWork } from './work.ts';
import {
  ALL_FAILED,
  endedAmong,
  type GroupConfig,
  introduced,
  lateOutcomes,
  missingFrom,
  outcome,
  partsOf,
  putTogether,
  runTasks,
  startTask,
  type Worker,
  type WorkerOutcome,
  withLate,
  withMissing,
  workersOf,
} from './workers.ts';

export async function runGroup(run: AgentRun, config: GroupConfig, message: UserMessage): Promise<RunResult> {
  const workers = workersOf(config, [run.agent.name]);
  const request = textOf(message.content);
  switch (config.mode) {
    case 'broadcast':
      return await broadcast(run, config, workers, request);
    case 'sequential':
      return await sequential(run, config, workers, request);
    case 'orchestrator':
      return await singlePass(run, config, await introduced(run, workers), request);
    case 'reflect': {
      const alone = workers.length === 0;
      const work = alone ? ownWork(run, config, message) : groupWork(run, config, await introduced(run, workers), request);
      return await reflect(run, config, work, request);
    }
  }
}

async function broadcast(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const shared = await run.context('shared', config.sharedContext);
  const nonce = shared === undefined ? '' : await run.steps.nonce('broadcast/fence');
  const tasks = workers.map((worker) => ({ worker, prompt: sharedPrompt(worker, shared, request, [], nonce) }));
  const outcomes = await runTasks(run, config, 'broadcast', tasks);
  const out = endedAmong(run, outcomes);
  if (out !== undefined) return out;
  const result = sideBySide(run, outcomes, await wasStopped(run, 'broadcast', outcomes));
  if (!succeeded(result)) return result;
  return withVerification(result, await checkedTogether(run, 'broadcast/together', partsOf(outcomes)));
}

async function sequential(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const shared = await run.context('shared', config.sharedContext);
  const nonce = await run.steps.nonce('sequence/fence');
  const outcomes: WorkerOutcome[] = [];
  for (const worker of workers) {
    const prompt = sharedPrompt(worker, shared, request, outcomes, nonce);
    const [result] = await run.steps.settled([await startTask(run, config, 'sequence', { worker, prompt })]);
    const latest = outcome(worker.name, result as RunResult);
    outcomes.push(latest);
    const out = endedAmong(run, outcomes);
    if (out !== undefined) return out;
    if (await wasStopped(run, `sequence/${worker.name}`, [latest])) return sideBySide(run, outcomes, true);
  }
  const last = outcomes.findLast(({ ok }) => ok);
  // Whoever came later and worked has used what there was: only the last one is certain to go on.
  if (last === undefined) return sideBySide(run, outcomes, false, outcomes.slice(-1));
  const [own] = partsOf([last]);
  const { report, ...rest } = answer(run, last.text, 'completed');
  const whole = { ...rest, ...own?.result, report: withMissing(report, missingFrom(outcomes)) };
  const before = partsOf(outcomes.slice(0, outcomes.indexOf(last)));
  return resting(
    whole,
    before.reduce<readonly NamedResult[]>((parts, part) => afterRound(parts, [part]), []),
  );
}

async function singlePass(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): Promise<RunResult> {
  const planned = await plan(run, config, workers, { key: 'plan', request, iteration: 1, mayAnswer: true });
  if (planned.kind === 'astray') {
    const message = `Tasks were assigned only to workers that the group does not have: ${planned.unknown.join(', ')}.`;
    return { ...planned.result, status: 'failed', error: { code: 'no_assignments', message } };
  }
  if (planned.kind !== 'assigned') return { ...planned.result, finalAgent: run.agent.name };
  const { outcomes, late } = await divide(run, config, workers, planned, { key: 'work', request });
  const out = endedAmong(run, outcomes);
  if (out !== undefined) return withLate(out, await lateOutcomes(run, late));
  const synthesis = await synthesise(run, { key: 'synthesis', outcomes, planned, late, mode: 'answer' });
  const came = await lateOutcomes(run, late);
  if (!succeeded(synthesis)) return withWhatThereIs(run, [...outcomes, ...came], synthesis);
  return withLate(put(run, synthesis, planned, outcomes), came);
}

/** The orchestrator's answer, which also says what is missing. */
function put(run: AgentRun, synthesis: RunResult, planned: Assigned, outcomes: readonly WorkerOutcome[]): RunResult {
  const report = withMissing(synthesis.report, allMissing(planned, outcomes));
  const error = outcomes.some(({ ok }) => ok) ? synthesis.error : ALL_FAILED;
  return putTogether({ ...synthesis, report, error, finalAgent: run.agent.name }, outcomes);
}

/** The answers under their names. What failed is named; all failed is still an answer, but not a success. */
function sideBySide(run: AgentRun, outcomes: readonly WorkerOutcome[], stopped: boolean, latest = outcomes): RunResult {
  const body = outcomes.map(({ worker, ok, text }) => `### ${worker}${ok ? '' : ' (failed)'}\n\n${text}`).join('\n\n');
  if (stopped) return answer(run, body, 'cancelled');
  const result = answer(run, body, outcomes.some(({ ok }) => ok) ? 'completed' : 'failed');
  const fix = `When that is mended, go on where it stopped: troupe resume ${shortId(run.run)}`;
  const goesOn = result.error !== undefined && latest.some(goesOnAsItIs);
  const ended = goesOn ? { ...result, error: { ...ALL_FAILED, fix } } : result;
  return withVerification(ended, together(partsOf(outcomes)));
}

function withWhatThereIs(run: AgentRun, outcomes: readonly WorkerOutcome[], failure: RunResult): RunResult {
  const { report } = sideBySide(run, outcomes, false);
  const why = failure.error?.message ?? failure.status;
  const body = `The results could not be put together (${why}). They are:\n\n${report.body}`;
  return { ...failure, finalAgent: run.agent.name, report: { ...report, body, synthetic: true } };
}

function answer(run: AgentRun, body: string, status: 'completed' | 'failed' | 'cancelled'): RunResult {
  const success = status === 'completed';
  const error = status === 'cancelled' ? { code: 'cancelled', message: 'The group was cancelled.' } : ALL_FAILED;
  return {
    status,
    report: { format: 'markdown', body, ...(success ? {} : { synthetic: true }) },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: success ? undefined : error,
    verification: UNCHECKED,
  };
}
