/** What an orchestrator does: plan, hand out tasks, put results together. Each is a run that goes on with its conversation. */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { userText } from '../../events/messages.ts';
import type { LoopAs } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { AgentRun } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';
import { type Assignment, type Plan, parseAssignments } from './assignments.ts';
import { nudge, planningPrompt, replanPrompt, resultsPrompt, SELF_EVALUATE, SYNTHESISE, workerPrompt } from './prompts.ts';
import {
  type Collected,
  collectTasks,
  type GroupConfig,
  type LateTask,
  LONGEST,
  missingFrom,
  type Worker,
  type WorkerOutcome,
} from './workers.ts';

export interface PlanRequest {
  readonly key: string;
  readonly request: string;
  readonly iteration: number;
  /** What the last evaluation found wanting, from the second iteration on. */
  readonly evaluation?: string | undefined;
  readonly continues?: RunId | undefined;
  /** Whether the orchestrator's own words can be the answer, when it insists on doing the work itself. */
  readonly mayAnswer: boolean;
}

export interface Assigned {
  readonly kind: 'assigned';
  readonly assignments: readonly Assignment[];
  /** Names to whom something was assigned and whom nobody knows. */
  readonly unknown: readonly string[];
  readonly orchestrator: RunId;
}

export type Planned =
  | Assigned
  /** Nothing was assigned, and the orchestrator stands by it. */
  | { readonly kind: 'direct'; readonly result: RunResult }
  /** Tasks only for workers that do not exist. */
  | { readonly kind: 'astray'; readonly result: RunResult; readonly unknown: readonly string[] }
  | { readonly kind: 'failed'; readonly result: RunResult };

/**
 * Asks until every assignment can be handed out. What was assigned properly stays assigned while the rest is asked for again;
 * after the last nudge the group goes on with what there is.
 */
export async function plan(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  request: PlanRequest,
): Promise<Planned> {
  const names = workers.map((worker) => worker.name);
  const taken = new Map<string, string>();
  let prompt = await firstPrompt(run, config, workers, request);
  let continues = request.continues;
  let fullest: RunResult | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const result = await ask(run, `${request.key}/${attempt}`, 'planner', prompt, continues);
    if (!succeeded(result)) return { kind: 'failed', result };
    const parsed = parseAssignments(result.report.body, names);
    for (const { worker, task } of parsed.assignments) taken.set(worker, task);
    // A plan for nobody is no answer, however long it is.
    const answers = isClear(parsed) && parsed.assignments.length === 0;
    if (answers && result.report.body.length > (fullest?.report.body.length ?? -1)) fullest = result;
    const planned = decide(parsed, taken, { attempt, iteration: request.iteration, result, fullest });
    await announce(run, request, attempt, parsed, planned);
    if (planned !== undefined) return planned;
    continues = result.finalRun;
    prompt = nudge({ ...parsed, taken: [...taken.keys()] }, workers);
  }
}

async function firstPrompt(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  { key, request, evaluation }: PlanRequest,
): Promise<string> {
  const nonce = await run.steps.nonce(`${key}/fence`);
  const routing = await run.context('routing', config.routingContext);
  return evaluation === undefined
    ? planningPrompt(request, workers, routing, nonce)
    : replanPrompt(evaluation, workers, routing, nonce);
}

interface Attempt {
  readonly attempt: number;
  readonly iteration: number;
  readonly result: RunResult;
  /** The longest answer of the orchestrator's own. */
  readonly fullest: RunResult | undefined;
}

const isClear = ({ unknown, empty }: Plan): boolean => unknown.length === 0 && empty.length === 0;

/** Undefined when the orchestrator has to be asked again. */
function decide(parsed: Plan, taken: ReadonlyMap<string, string>, at: Attempt): Planned | undefined {
  const { unknown, empty } = parsed;
  const clear = isClear(parsed);
  const nothing = taken.size === 0;
  const settled = clear && (!nothing || at.iteration > 1);
  if (!settled && at.attempt < limits.groupNudges) return undefined;
  if (!nothing) {
    const assignments = [...taken].map(([worker, task]) => ({ worker, task }));
    return { kind: 'assigned', assignments, unknown, orchestrator: at.result.finalRun };
  }
  return clear
    ? { kind: 'direct', result: at.fullest ?? at.result }
    : { kind: 'astray', result: at.result, unknown: [...unknown, ...empty] };
}

async function announce(
  run: AgentRun,
  request: PlanRequest,
  attempt: number,
  parsed: Plan,
  planned: Planned | undefined,
): Promise<void> {
  const assignments = planned?.kind === 'assigned' ? planned.assignments : parsed.assignments;
  const payload = {
    iteration: request.iteration,
    assignments: [...assignments],
    unknown: [...parsed.unknown],
    nudges: attempt,
    ...(planned?.kind === 'assigned' ? { accepted: true } : {}),
    ...(planned?.kind === 'direct' && request.mayAnswer ? { direct: true } : {}),
  };
  await run.steps.emit(`${request.key}/${attempt}/planned`, { type: 'group.planned', payload });
}

/** Hands out the tasks and collects what comes in time, also from those that were late before. */
export async function divide(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  planned: Assigned,
  at: { readonly key: string; readonly request: string; readonly late?: readonly LateTask[] },
): Promise<Collected> {
  const shared = await run.context('shared', config.sharedContext);
  const nonce = await run.steps.nonce(`${at.key}/fence`);
  const tasks = planned.assignments.flatMap(({ worker: name, task }) => {
    const worker = workers.find((one) => one.name === name);
    return worker === undefined ? [] : [{ worker, prompt: workerPrompt(worker, shared, at.request, task, nonce) }];
  });
  return await collectTasks(run, config, at.key, tasks, at.late);
}

export interface SynthesisRequest {
  readonly key: string;
  readonly outcomes: readonly WorkerOutcome[];
  readonly planned: Assigned;
  readonly late: readonly LateTask[];
  /** `judge`: the orchestrator also says whether the goal is met. */
  readonly mode: 'answer' | 'judge';
}

export async function synthesise(run: AgentRun, request: SynthesisRequest): Promise<RunResult> {
  const nonce = await run.steps.nonce(`${request.key}/fence`);
  const atWork = request.late.map(({ worker }) => `${worker} (still at work)`);
  const missing = [...allMissing(request.planned, request.outcomes), ...atWork];
  const prompt = resultsPrompt(request.outcomes, missing, nonce, request.mode === 'judge' ? SELF_EVALUATE : SYNTHESISE);
  return await ask(run, request.key, 'speaker', prompt, request.planned.orchestrator);
}

/** Everybody to whom something was assigned and from whom nothing came. */
export const allMissing = (planned: Assigned, outcomes: readonly WorkerOutcome[]): string[] => [
  ...missingFrom(outcomes),
  ...planned.unknown,
];

/** One question to the orchestrator or to somebody else, without the patterns they declare. */
export async function ask(
  run: AgentRun,
  key: string,
  as: Exclude<LoopAs, 'self' | 'chooser' | 'architect'>,
  prompt: string,
  continues: RunId | undefined,
  agent = run.agent.name,
): Promise<RunResult> {
  const evaluates = as === 'evaluator';
  const handle = await run.steps.start(key, agent, userText(prompt), {
    kind: 'loop',
    role: evaluates ? 'evaluator' : 'orchestrator',
    as,
    continues,
    timeLimit: LONGEST,
    // A judge has nothing to do but to judge: one that gives no score when told how will not give one later.
    ...(evaluates ? { maxTurns: limits.evaluationTurns } : {}),
    // The orchestrator keeps its conversation between prompts, as its workers do; a judge sees each result afresh.
    ...(evaluates ? {} : { member: run.agent.name }),
  });
  const [result] = await run.steps.settled([handle]);
  return result as RunResult;
}
