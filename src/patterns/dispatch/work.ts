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
import type { Handle, RunResult, WaitAnswered } from '../steps.ts';
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
  /** Of the pass that it belongs to. */
  readonly pass: string;
  readonly key: string;
  readonly handle: Handle;
  /** What the attempts before it took. */
  readonly spentMs: number;
}

/** One that failed for a reason that may pass, and when it is tried again. */
interface Retry {
  readonly attempt: Attempt;
  readonly spentMs: number;
  readonly result: RunResult;
  readonly dueAt: number;
}

/** Those at work, and those that are tried again. */
export interface Work {
  working: Attempt[];
  retrying: Retry[];
  /** The run itself was cancelled. */
  stopped: boolean;
  /** A budget that it counts against is used up. */
  out: boolean;
  /** The fence of each pass. */
  readonly nonces: Map<string, string>;
}

export const createWork = (): Work => ({ working: [], retrying: [], stopped: false, out: false, nonces: new Map() });

export const isAtWork = ({ working, retrying }: Work): boolean => working.length > 0 || retrying.length > 0;

export async function workSideBySide(
  run: AgentRun,
  settings: DispatchSettings,
  key: string,
  errands: readonly Errand[],
): Promise<Worked> {
  const work = createWork();
  for (const errand of errands) await begin(run, settings, work, key, errand);
  const responses: Response[] = [];
  for (let turn = 1, pauses = 0; isAtWork(work); ) {
    // A pause has turns of its own: those that others ended in are counted as they were when all waited for it.
    const at = work.retrying.length > 0 ? `${key}/due/${++pauses}` : `${key}/ended/${turn++}`;
    responses.push(...(await oneTurn(run, settings, work, at)).responses);
  }
  return { responses, stopped: work.stopped };
}

/** Until somebody has ended, one of the questions is answered or somebody is to be tried again. */
export async function oneTurn(
  run: AgentRun,
  settings: DispatchSettings,
  work: Work,
  at: string,
  waits: readonly string[] = [],
): Promise<{ readonly responses: readonly Response[]; readonly answered: readonly WaitAnswered[] }> {
  const { working } = work;
  const until = work.retrying.length === 0 ? undefined : Math.min(...work.retrying.map(({ dueAt }) => dueAt));
  const handles = working.map(({ handle }) => handle);
  const { ended, answered } = await run.steps.next(at, handles, { waits, until });
  const responses: Response[] = [];
  if (ended.length === 0 && answered.length === 0) await tryAgain(run, settings, work, until);
  const results = ended.map(({ result }) => result);
  work.stopped = (await wasStopped(run, at, results)) || work.stopped;
  work.out ||= ranOut(run, results) !== undefined;
  work.working = working.filter((_attempt, index) => !ended.some((one) => one.index === index));
  const failed: Omit<Retry, 'dueAt'>[] = [];
  for (const { index, result } of ended) {
    const attempt = working[index] as Attempt;
    const spentMs = attempt.spentMs + (await run.steps.worked(`${attempt.key}/worked`, attempt.handle));
    const again = mayPass(result) && attempt.number <= settings.retries;
    if (again) failed.push({ attempt, spentMs, result });
    else responses.push(await respond(run, settings, attempt, spentMs, result));
  }
  if (failed.length > 0) {
    const dueAt = (await run.steps.now(`${at}/at`)) + settings.retryDelay;
    work.retrying.push(...failed.map((one) => ({ ...one, dueAt })));
  }
  if (work.stopped || work.out) responses.push(...(await giveUp(run, settings, work)));
  return { responses, answered };
}

/** Who was to be tried again is not, and has failed. */
async function giveUp(run: AgentRun, settings: DispatchSettings, work: Work): Promise<Response[]> {
  const responses: Response[] = [];
  for (const { attempt, spentMs, result } of work.retrying)
    responses.push(await respond(run, settings, attempt, spentMs, result));
  work.retrying = [];
  return responses;
}

async function tryAgain(run: AgentRun, settings: DispatchSettings, work: Work, until: number | undefined): Promise<void> {
  const due = work.retrying.filter(({ dueAt }) => dueAt === until);
  work.retrying = work.retrying.filter((one) => !due.includes(one));
  for (const one of due) await begin(run, settings, work, one.attempt.pass, one.attempt.errand, one);
}

export async function begin(
  run: AgentRun,
  settings: DispatchSettings,
  work: Work,
  pass: string,
  errand: Errand,
  before?: Retry,
): Promise<void> {
  const nonce = work.nonces.get(pass) ?? (await run.steps.nonce(`${pass}/fence`));
  work.nonces.set(pass, nonce);
  const number = (before?.attempt.number ?? 0) + 1;
  const key = `${pass}/${errand.agent}/${number}`;
  const why = before === undefined ? '' : `\n\n${againText(failureText(settings, before.result), nonce)}`;
  const text = `${errand.text(nonce)}${why}`;
  const input: UserMessage = { role: 'user', content: [{ type: 'text', text }, ...errand.images] };
  const handle = await run.steps.start(key, errand.agent, input, {
    kind: 'pattern',
    role: 'dispatched',
    reason: number === 1 ? errand.reason : `${errand.reason}, attempt ${number}`,
    // It goes on with its conversation: from one prompt to the next, and from an attempt that was cut off.
    member: errand.agent,
    timeLimit: { milliseconds: settings.timeout, setting: 'dispatch.timeout' },
  });
  work.working.push({ errand, number, pass, key, handle, spentMs: before?.spentMs ?? 0 });
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
