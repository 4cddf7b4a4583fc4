/**
 * An executor in the place of a model: each turn is one prompt. Before it goes out its intent is on the disk, and who works is
 * known by then. So whoever takes the run up goes on in the same session where that can be loaded, and tells another one what
 * is known to be done where it cannot.
 */
import { executorModel } from '../../agents/definition/executor.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import type { ExecutorSession, PromptEnded, PromptHandlers } from '../../executors/port.ts';
import type { LoopModel, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import { cancelledFailure, unsentFailure } from '../../models/failures.ts';
import { announceTurn, noBudget, recordedOutcome, TURN_CANCELLED } from '../calls/turn-records.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { StepIndex } from '../record/step-index.ts';
import { createAttempts } from '../spending/attempts.ts';
import { limitingScopes } from '../spending/budget.ts';
import type { WorstCase } from '../spending/worst-case.ts';
import { type Conversed, converse } from './conversing.ts';
import { endSession } from './ending.ts';
import { limitReached } from './limit-watch.ts';
import { openSession } from './opening.ts';
import { answeredBy, type Bill, executorFailed, executorFailure } from './outcome.ts';
import { type AsksExecutors, type ExecutorExchange, type ExecutorRecorder, recorded } from './recorder.ts';
import { createStanding } from './standing.ts';
import { executorTerms } from './terms.ts';
import { requestParts, takenUp, toldBefore, wordsAbout } from './told.ts';

export interface RecordedExecutor extends LoopModel {
  /** The loop is over, or was left for this reason. */
  close(reason?: unknown): Promise<void>;
}

export function recordedExecutor(
  tree: AsksExecutors,
  node: DrivenRun,
  setup: AgentSetup,
  stepIndex: StepIndex,
): RecordedExecutor {
  const use = setup.definition.executor ?? { name: '' };
  const standing = createStanding(node.journal.past);
  const terms = executorTerms(use, node.started);
  const recorder: ExecutorRecorder = { tree, node, setup, stepIndex, use, standing, terms, notices: [] };
  return {
    begun: (turn) => node.journal.recorded('model.request', `turn/${turn}/model`) !== undefined,
    async ask(request) {
      const step = `turn/${request.turn}/model`;
      return (await recordedOutcome(recorder, step, request)) ?? (await exchange(recorder, step, request));
    },
    close: (reason) => endSession(recorder, reason),
  };
}

async function exchange(recorder: ExecutorRecorder, step: string, request: TurnRequest): Promise<TurnOutcome> {
  const { tree, node } = recorder;
  tree.checkpoint(node);
  const attempts = createAttempts(tree, node, step, limitingScopes(node.scopes));
  const at = { step, request, attempts, startedAt: tree.clock.elapsed() };
  if (node.abort.signal.aborted) {
    reservedBefore(recorder, at);
    return await stopped(recorder, at, 1);
  }
  const exhausted = tree.spending.exhausted(node);
  if (exhausted !== undefined) return noBudget(exhausted);
  try {
    return await persist(recorder, at);
  } finally {
    attempts.done();
  }
}

const NANO = 1_000_000_000;

/** What this prompt may cost at most; once a prompt did not say what it cost, the whole of it is taken as spent. */
function mayCost({ terms, standing }: ExecutorRecorder): number | undefined {
  if (terms.maxUsd === undefined) return undefined;
  const before = standing.nanoUsd();
  return before === undefined ? 0 : Math.max(0, Math.floor(terms.maxUsd * NANO) - before);
}

/** What an earlier life has reserved for the turn is still open, and goes on. */
function reservedBefore({ node, use }: ExecutorRecorder, { step, attempts }: ExecutorExchange): boolean {
  const before = node.journal.recorded('budget.reserved', step);
  const settled = node.journal.recorded('budget.settled', step);
  if (before === undefined || (settled !== undefined && settled.position > before.position)) return false;
  attempts.goOn(worstOf(use, before.payload.amounts));
  return true;
}

const worstOf = (use: ExecutorRecorder['use'], amounts: WorstCase['amounts']): WorstCase => ({
  ...{ model: executorModel(use), inputTokens: 0, outputTokens: 0, amounts },
});

/** The request and its reservation are committed. */
async function announced(recorder: ExecutorRecorder, at: ExecutorExchange, worst: WorstCase): Promise<TurnOutcome | undefined> {
  const { step, request, attempts } = at;
  if (reservedBefore(recorder, at)) return undefined;
  const refused = await announceTurn(recorder, step, request, true, attempts, worst);
  if (refused === undefined) return undefined;
  return refused.kind === 'refused' ? noBudget(refused) : TURN_CANCELLED;
}

/** Until it is known what came of it: one that ends in the middle is started again, and goes on. */
async function persist(recorder: ExecutorRecorder, at: ExecutorExchange): Promise<TurnOutcome> {
  const { tree, node, use, terms, standing } = recorder;
  const most = mayCost(recorder);
  if (most === 0 && standing.nanoUsd() !== undefined && (terms.maxUsd ?? 0) > 0) return await limited(recorder, at, 'cost');
  const worst = worstOf(use, { calls: 1, tokens: 0, ...present({ nanoUsd: most }) });
  const refused = await announced(recorder, at, worst);
  if (refused !== undefined) return refused;
  for (let attempt = 1; ; attempt += 1) {
    const opened = await tree.atWork.during(() => openSession(recorder, at.step));
    if (node.abort.signal.aborted) return await stopped(recorder, at, attempt);
    if (!opened.ok) {
      const { why, ...said } = opened.error;
      const error = executorFailure(recorder, why, said, standing.isOpen(at.step));
      if (!mayPass(error) || attempt > limits.executorRestarts) return await executorFailed(recorder, at, error, attempt);
      again(recorder, at, error, attempt);
      continue;
    }
    const isPart = standing.isOpen(at.step) && opened.value.restored !== 'live';
    const came = await talk(recorder, at, opened.value, most);
    const bill = { worst, usage: came.usage, costUsd: came.costUsd, isPart };
    recorder.last = came.ended.kind === 'ended' ? { stop: came.ended.stop } : { why: came.ended.why };
    if (came.reached !== undefined) {
      const error = executorFailure(recorder, 'limit', came.reached, true);
      return await executorFailed(recorder, at, error, attempt, { before: came.seen, bill });
    }
    if (node.abort.signal.aborted || came.isPaused) {
      tree.writer.enqueue(came.seen);
      return await stopped(recorder, at, attempt, bill);
    }
    if (came.ended.kind === 'ended') {
      const { stop, text } = came.ended;
      if (stop !== 'refusal' && stop !== 'cancelled')
        return answeredBy(recorder, at, came.ended, came.text, bill, came.seen, attempt);
      const message = stop === 'refusal' ? `it refused. ${text}` : `it stopped by itself. ${text}`;
      const error = executorFailure(recorder, 'refusal', { message: message.trim() }, true);
      return await executorFailed(recorder, at, error, attempt, { before: came.seen, bill });
    }
    const { why, ...said } = came.ended;
    const error = executorFailure(recorder, why, said, true);
    if (!mayPass(error) || attempt > limits.executorRestarts)
      return await executorFailed(recorder, at, error, attempt, { before: came.seen, bill });
    tree.writer.enqueue(came.seen);
    await endSession(recorder);
    again(recorder, at, error, attempt);
  }
}

/** The run is to stand still, or to end: then what was said to it may have cost something, also in an earlier life. */
async function stopped(recorder: ExecutorRecorder, at: ExecutorExchange, tries: number, bill?: Bill): Promise<TurnOutcome> {
  const { tree, node, standing } = recorder;
  tree.checkpoint(node);
  if (standing.isOpen(at.step)) return await executorFailed(recorder, at, cancelledFailure, tries, { bill });
  const { events, options } = at.attempts.failed(unsentFailure);
  tree.writer.enqueue(events, options);
  return TURN_CANCELLED;
}

const mayPass = ({ executor }: ModelFailure): boolean =>
  executor === 'crashed' || executor === 'protocol' || executor === 'timeout';

function again(recorder: ExecutorRecorder, { step, request }: ExecutorExchange, error: ModelFailure, attempt: number): void {
  const payload = { turn: request.turn, model: executorModel(recorder.use), attempt, error, final: false, nextInMs: 0 };
  recorder.tree.writer.enqueue([recorded(recorder, 'model.failed', payload, { step })]);
}

async function limited(recorder: ExecutorRecorder, at: ExecutorExchange, category: 'cost'): Promise<TurnOutcome> {
  const reached = limitReached(recorder, category);
  recorder.tree.writer.enqueue([recorded(recorder, 'task.error', reached, { step: at.step })]);
  return await executorFailed(recorder, at, executorFailure(recorder, 'limit', reached, false), 1);
}

interface Talked extends Conversed {
  /** All that it said for the answer. */
  readonly text: string;
  readonly isPaused: boolean;
}

/** The prompt, and what has to be said behind it: that something was not allowed, and in whose words. */
async function talk(
  recorder: ExecutorRecorder,
  at: ExecutorExchange,
  session: ExecutorSession,
  most: number | undefined,
): Promise<Talked> {
  const mostUsd = most === undefined ? undefined : most / NANO;
  let came = await converse(recorder, at, session, await firstPrompt(recorder, at, session), mostUsd);
  for (let time = 1; time <= limits.executorWords; time += 1) {
    const { ended, denied, reached } = came;
    const unheard = denied.filter(({ note }) => note !== undefined || (ended.kind === 'ended' && ended.stop === 'cancelled'));
    if (ended.kind !== 'ended' || reached !== undefined || unheard.length === 0 || isStopped(recorder)) break;
    recorder.tree.writer.enqueue(came.seen);
    const words = wordsAbout(unheard);
    await intend(recorder, at.step, session, 'words', words);
    const say = (handlers: PromptHandlers) => session.prompt([{ type: 'text' as const, text: words }], handlers);
    const restUsd = mostUsd === undefined ? undefined : mostUsd - (came.costUsd ?? 0);
    const next = await converse(recorder, at, session, say, restUsd);
    came = { ...next, usage: added(came.usage, next.usage), costUsd: sum(came.costUsd, next.costUsd) };
  }
  const text = came.ended.text;
  return { ...came, text, isPaused: isPaused(recorder) };
}

const isStopped = (recorder: ExecutorRecorder): boolean => recorder.node.abort.signal.aborted || isPaused(recorder);

function isPaused({ tree, node }: ExecutorRecorder): boolean {
  try {
    tree.checkpoint(node);
    return false;
  } catch {
    return true;
  }
}

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (other ?? one) : one + other;

function added(one: Conversed['usage'], other: Conversed['usage']): Conversed['usage'] {
  return present({
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
    cacheReadTokens: sum(one.cacheReadTokens, other.cacheReadTokens),
  });
}

/** What is under way goes on; what was cut off is told to go on; and only what certainly was not said is said as it is. */
async function firstPrompt(
  recorder: ExecutorRecorder,
  { step, request }: ExecutorExchange,
  session: ExecutorSession,
): Promise<(handlers: PromptHandlers) => Promise<PromptEnded>> {
  const { standing } = recorder;
  const isOpen = standing.isOpen(step);
  const isNew = session.restored === 'new' && !recorder.hasSaid;
  recorder.hasSaid = true;
  const parts = requestParts(recorder, request, isNew);
  const before = isNew ? await toldBefore(recorder, request) : '';
  const told = isOpen ? takenUp(recorder, isNew) : '';
  const how = isOpen ? (isNew ? 'again' : 'go-on') : 'request';
  const words = `${before}${told}`;
  const content = words === '' ? parts : [{ type: 'text' as const, text: words }, ...parts];
  return (handlers) => {
    const going = session.restored === 'live' && isOpen ? session.resume(handlers) : undefined;
    if (going !== undefined) return going;
    return intend(recorder, step, session, how, words).then(() => session.prompt(content, handlers));
  };
}

/** On the disk before it goes out. */
async function intend(
  recorder: ExecutorRecorder,
  step: string,
  { session }: ExecutorSession,
  how: 'request' | 'go-on' | 'again' | 'words',
  words: string,
): Promise<void> {
  const told = words === '' ? undefined : recorder.tree.redact(words);
  const payload = { session, how, ...present({ told }) };
  await recorder.tree.writer.write([recorded(recorder, 'executor.prompted', payload, { step })], { sync: 'power' });
}
