/**
 * The agents that were chosen, side by side. Each has its own time and its own attempts, and none waits for another: one that
 * failed for a reason that may pass is asked again while the others go on.
 */
import { durationText } from '../../agents/definition/duration.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { UserMessage } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import { type AgentRun, wasStopped } from '../agent-run.ts';
import { ranOut } from '../out-of-budget.ts';
import type { Handle, RunResult } from '../steps.ts';
import { againText, isQuestion, type Part, partText } from './prompts.ts';
import type { DispatchSettings } from './settings.ts';

export interface Errand {
  readonly agent: string;
  readonly text: (nonce: string) => string;
  readonly images: Part['asked']['images'];
  readonly reason: string;
}

export const errandFor = (agent: string, part: Part, reason: string): Errand => ({
  agent,
  text: (nonce) => partText(part, nonce),
  images: part.answer === undefined ? part.asked.images : [],
  reason,
});

/** What came of one agent, as it is recorded, and as the answer is made from. */
export interface Response extends Pick<Payloads['dispatch.responded'], 'agentId' | 'content' | 'success' | 'errorMessage'> {
  readonly needsInput: boolean;
  readonly result: RunResult;
}

export interface Worked {
  readonly responses: readonly Response[];
  /** The run itself was cancelled. */
  readonly stopped: boolean;
}

interface Attempt {
  readonly errand: Errand;
  readonly number: number;
  readonly key: string;
  readonly handle: Handle;
  readonly beganAt: number;
  /** What the attempts before it took. */
  readonly spentMs: number;
}

interface Failed {
  readonly attempt: Attempt;
  readonly spentMs: number;
  readonly why: string;
}

export async function workSideBySide(
  run: AgentRun,
  settings: DispatchSettings,
  key: string,
  errands: readonly Errand[],
): Promise<Worked> {
  const nonce = await run.steps.nonce(`${key}/fence`);
  let working: Attempt[] = [];
  const beganAt = await run.steps.now(`${key}/began`);
  for (const errand of errands) working.push(await begin(run, settings, { key, nonce, beganAt }, errand));
  const responses: Response[] = [];
  let stopped = false;
  let out = false;
  for (let turn = 1; working.length > 0; turn += 1) {
    const at = `${key}/ended/${turn}`;
    const ended = await run.steps.next(
      at,
      working.map(({ handle }) => handle),
    );
    const results = ended.map(({ result }) => result);
    const endedAt = await run.steps.now(`${at}/at`);
    stopped = (await wasStopped(run, at, results)) || stopped;
    out ||= ranOut(run, results) !== undefined;
    const failed: Failed[] = [];
    for (const { index, result } of ended) {
      const attempt = working[index] as Attempt;
      const spentMs = attempt.spentMs + Math.max(0, endedAt - attempt.beganAt);
      const again = !stopped && !out && mayPass(result) && attempt.number <= settings.retries;
      if (again) failed.push({ attempt, spentMs, why: failureText(settings, result) });
      else responses.push(await respond(run, settings, attempt, spentMs, result));
    }
    working = working.filter((_attempt, index) => !ended.some((one) => one.index === index));
    working.push(...(await tryAgain(run, settings, { key, at, nonce }, failed)));
  }
  return { responses, stopped };
}

/** All that have failed by now wait once, together. */
async function tryAgain(
  run: AgentRun,
  settings: DispatchSettings,
  { key, at, nonce }: { readonly key: string; readonly at: string; readonly nonce: string },
  failed: readonly Failed[],
): Promise<Attempt[]> {
  if (failed.length === 0) return [];
  if (settings.retryDelay > 0) await run.steps.sleep(`${at}/pause`, settings.retryDelay);
  const beganAt = await run.steps.now(`${at}/again`);
  const begun: Attempt[] = [];
  for (const one of failed) begun.push(await begin(run, settings, { key, nonce, beganAt }, one.attempt.errand, one));
  return begun;
}

interface Begins {
  readonly key: string;
  readonly nonce: string;
  readonly beganAt: number;
}

async function begin(
  run: AgentRun,
  settings: DispatchSettings,
  { key, nonce, beganAt }: Begins,
  errand: Errand,
  before?: Failed,
): Promise<Attempt> {
  const number = (before?.attempt.number ?? 0) + 1;
  const own = `${key}/${errand.agent}/${number}`;
  const text = before === undefined ? errand.text(nonce) : `${errand.text(nonce)}\n\n${againText(before.why, nonce)}`;
  const input: UserMessage = { role: 'user', content: [{ type: 'text', text }, ...errand.images] };
  const handle = await run.steps.start(own, errand.agent, input, {
    kind: 'pattern',
    role: 'dispatched',
    reason: number === 1 ? errand.reason : `${errand.reason}, attempt ${number}`,
    // It goes on with its conversation: from one prompt to the next, and from an attempt that was cut off.
    member: errand.agent,
    timeLimit: { milliseconds: settings.timeout, setting: 'dispatch.timeout' },
  });
  return { errand, number, key: own, handle, beganAt, spentMs: before?.spentMs ?? 0 };
}

async function respond(
  run: AgentRun,
  settings: DispatchSettings,
  { errand, number, key }: Attempt,
  executionTimeMs: number,
  result: RunResult,
): Promise<Response> {
  const success = succeeded(result);
  const { status, verification } = result;
  const content = success ? reportText(result.report) : '';
  const needsInput = settings.needsInput && success && isQuestion(content);
  const errorMessage = success ? null : failureText(settings, result);
  const said = { agentId: errand.agent, content, success, errorMessage };
  const payload = { ...said, executionTimeMs: Math.round(executionTimeMs), attempts: number, status, verification };
  const asks = needsInput ? { needsInput } : {};
  await run.steps.emit(`${key}/responded`, { type: 'dispatch.responded', payload: { ...payload, ...asks } });
  return { ...said, needsInput, result };
}

const TIMED_OUT = 'timed_out';

/** Not done in time and cancelled are two things, and read like it. */
function failureText({ timeout }: DispatchSettings, { error, status }: RunResult): string {
  if (error?.code === TIMED_OUT) {
    const late = `timed out after ${durationText(timeout)} (dispatch.timeout) before it was done`;
    return error.last === undefined ? late : `${late}: ${error.last}`;
  }
  if (status === 'cancelled') return 'interrupted before it was done';
  return error?.message ?? status;
}

/** What would be the same another time: what the agent says itself, and what is wrong with it, its key or its model. */
const LASTING: ReadonlySet<string> = new Set([
  ...['reported_failure', 'no_report', 'no_agent', 'missing_agent', 'not_yet', 'bad_name', 'bad_tools', 'no_model', 'no_context'],
  ...['too_deep', 'unknown_price', 'circle', 'model_auth', 'model_invalid_request', 'model_refused', 'model_context_overflow'],
  ...['model_script_ended', 'peer_refused', 'peer_auth', 'peer_invalid_request'],
]);

/** What may still be at work elsewhere would be done twice. */
const mayPass = ({ status, error }: RunResult): boolean =>
  status === 'failed' && error?.left !== true && !LASTING.has(error?.code ?? '');
