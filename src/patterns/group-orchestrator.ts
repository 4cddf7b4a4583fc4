/** What an orchestrator does: plan, hand out the tasks, put the results together. Each is a run of its own that goes on with the conversation. */
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { userText } from '../events/messages.ts';
import { type AgentRun, succeeded } from './agent-run.ts';
import { type Assignment, parseAssignments } from './assignments.ts';
import { nudge, planningPrompt, replanPrompt, resultsPrompt, SELF_EVALUATE, SYNTHESISE, workerPrompt } from './group-prompts.ts';
import { type GroupConfig, runTasks, type Worker, type WorkerOutcome } from './group-workers.ts';
import type { RunResult } from './steps.ts';

export interface PlanRequest {
  readonly key: string;
  readonly request: string;
  readonly iteration: number;
  /** What the last evaluation found wanting, from the second iteration on. */
  readonly evaluation?: string;
  readonly continues?: RunId | undefined;
}

export type Planned =
  | { readonly kind: 'assigned'; readonly assignments: readonly Assignment[]; readonly orchestrator: RunId }
  /** Nothing was assigned, and the orchestrator stands by it. */
  | { readonly kind: 'direct'; readonly result: RunResult }
  | { readonly kind: 'failed'; readonly result: RunResult };

const NUDGES = 3;

export async function plan(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  request: PlanRequest,
): Promise<Planned> {
  const names = workers.map((worker) => worker.name);
  const nonce = await run.steps.nonce(`${request.key}/fence`);
  const routing = await run.context('routing', config.routingContext);
  let prompt =
    request.evaluation === undefined
      ? planningPrompt(request.request, workers, routing, nonce)
      : replanPrompt(request.evaluation, workers, routing, nonce);
  let continues = request.continues;
  for (let attempt = 0; ; attempt += 1) {
    const result = await ask(run, `${request.key}/${attempt}`, 'planner', prompt, continues);
    if (!succeeded(result)) return { kind: 'failed', result };
    const { assignments, unknown } = parseAssignments(result.report.body, names);
    const payload = { iteration: request.iteration, assignments: [...assignments], unknown: [...unknown], nudges: attempt };
    await run.steps.emit(`${request.key}/${attempt}/planned`, { type: 'group.planned', payload });
    if (assignments.length > 0 && unknown.length === 0) return { kind: 'assigned', assignments, orchestrator: result.finalRun };
    const replanning = request.iteration > 1 && unknown.length === 0;
    if (replanning || attempt >= NUDGES) {
      return assignments.length > 0
        ? { kind: 'assigned', assignments, orchestrator: result.finalRun }
        : { kind: 'direct', result };
    }
    continues = result.finalRun;
    prompt = nudge(unknown, workers);
  }
}

/** Hands out the tasks and collects what comes. */
export async function divide(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  planned: Extract<Planned, { kind: 'assigned' }>,
  at: { readonly key: string; readonly request: string },
): Promise<WorkerOutcome[]> {
  const shared = await run.context('shared', config.sharedContext);
  const nonce = await run.steps.nonce(`${at.key}/fence`);
  const tasks = planned.assignments.flatMap(({ worker: name, task }) => {
    const worker = workers.find((one) => one.name === name);
    return worker === undefined ? [] : [{ worker, prompt: workerPrompt(worker, shared, at.request, task, nonce) }];
  });
  return await runTasks(run, config, at.key, tasks);
}

export interface SynthesisRequest {
  readonly key: string;
  readonly outcomes: readonly WorkerOutcome[];
  readonly missing: readonly string[];
  readonly continues: RunId;
  /** `judge`: the orchestrator also says whether the goal is met. */
  readonly mode: 'answer' | 'judge';
}

export async function synthesise(run: AgentRun, request: SynthesisRequest): Promise<RunResult> {
  const nonce = await run.steps.nonce(`${request.key}/fence`);
  const prompt = resultsPrompt(request.outcomes, request.missing, nonce, request.mode === 'judge' ? SELF_EVALUATE : SYNTHESISE);
  return await ask(run, request.key, 'planner', prompt, request.continues);
}

/** One question to the orchestrator itself, without its patterns and tools. */
export async function ask(
  run: AgentRun,
  key: string,
  part: 'planner' | 'evaluator',
  prompt: string,
  continues: RunId | undefined,
  agent = run.agent.name,
): Promise<RunResult> {
  const handle = await run.steps.start(key, agent, userText(prompt), {
    role: part === 'planner' ? 'orchestrator' : 'evaluator',
    part,
    timeoutMs: limits.workerTimeoutMs,
    ...(continues === undefined ? {} : { continues }),
  });
  const [result] = await run.steps.settled([handle]);
  return result as RunResult;
}
