/** What came of an exchange with an executor, as the turn's answer or its failure, and what it cost. */
import { executorModel } from '../../agents/definition/executor.ts';
import { present } from '../../base/present.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import type { AssistantMessage, Usage } from '../../events/messages.ts';
import type { ExecutorFailure, PromptEnded } from '../../executors/port.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { TurnOutcome } from '../../loop/port.ts';
import { costNothing } from '../../models/failures.ts';
import type { Settled } from '../spending/attempts.ts';
import type { WorstCase } from '../spending/worst-case.ts';
import { type ExecutorExchange, type ExecutorRecorder, recorded } from './recorder.ts';

type Ended = Extract<PromptEnded, { readonly kind: 'ended' }>;

const NANO = 1_000_000_000;

/** What was reserved and what it took, in the words of the bill. */
export interface Bill {
  readonly worst: WorstCase;
  readonly usage: Usage;
  /** What it says that it cost. */
  readonly costUsd?: number | undefined;
  /** A session that worked on it before was lost: what that one took is in no figure here. */
  readonly isPart?: boolean | undefined;
}

interface Cost {
  readonly nanoUsd: number;
  readonly prices: string;
  readonly estimated?: true;
}

/** What it says, or what its model would cost for what it counted. */
function costOf({ tree, use, session }: ExecutorRecorder, { usage, costUsd, isPart }: Bill): Cost | undefined {
  if (isPart === true) return undefined;
  if (costUsd !== undefined) return { nanoUsd: Math.round(costUsd * NANO), prices: 'executor' };
  if (usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  for (const model of [session?.about.model, use.model]) {
    const nanoUsd = model === undefined ? undefined : tree.prices.cost(model, usage);
    if (nanoUsd !== undefined) return { nanoUsd, prices: tree.prices.version, estimated: true };
  }
  return undefined;
}

/** What is not known counts as the most that it may be. */
function settledBy({ worst: { amounts }, usage }: Bill, cost: Cost | undefined): Settled {
  const nanoUsd = cost?.nanoUsd ?? amounts.nanoUsd;
  const spent = { calls: 1, tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), ...present({ nanoUsd }) };
  return cost === undefined && nanoUsd !== undefined ? { spent, assumed: true } : { spent };
}

/** The answer, what was seen last and what it cost: all of it in one append. */
export function answeredBy(
  recorder: ExecutorRecorder,
  { step, request, attempts, startedAt }: ExecutorExchange,
  ended: Ended,
  text: string,
  bill: Bill,
  before: readonly NewEvent[],
  tries: number,
): TurnOutcome {
  const { tree, use, stepIndex } = recorder;
  const served = executorModel(use);
  const message: AssistantMessage = { role: 'assistant', content: [{ type: 'text', text: tree.redact(text) }] };
  const finish = ended.cut || ended.stop === 'max_tokens' || ended.stop === 'max_turn_requests' ? 'length' : 'stop';
  const cost = costOf(recorder, bill);
  const { usage } = bill;
  const payload = {
    ...{ turn: request.turn, message, finish: finish as 'length' | 'stop', usage, requested: served, served, attempts: tries },
    ...{ durationMs: Math.round(tree.clock.elapsed() - startedAt), ...present({ cost }) },
  };
  const event = recorded(recorder, 'model.response', payload, { step, actor: 'executor' });
  const settled = attempts.cost(settledBy(bill, cost));
  tree.writer.enqueue([...before, event, ...settled.events], settled.options);
  stepIndex.place(message, step);
  return { kind: 'answer', answer: { message, finish, usage, served } };
}

/** The last word of the turn, with what was spent on it until then. */
export async function executorFailed(
  recorder: ExecutorRecorder,
  { step, request, attempts }: ExecutorExchange,
  error: ModelFailure,
  tries: number,
  { before = [], bill }: { readonly before?: readonly NewEvent[]; readonly bill?: Bill | undefined } = {},
): Promise<TurnOutcome> {
  const { tree, use } = recorder;
  const cost = bill === undefined ? undefined : costOf(recorder, bill);
  const took = present({ usage: bill?.usage, cost, inDoubt: cost === undefined && !costNothing(error) ? TRUE : undefined });
  const payload = { turn: request.turn, model: executorModel(use), attempt: tries, error, final: true, ...took };
  const event = recorded(recorder, 'model.failed', payload, { step });
  const settled = bill === undefined || cost === undefined ? attempts.failed(error) : attempts.cost(settledBy(bill, cost));
  await tree.writer.write([...before, event, ...settled.events], settled.options);
  return { kind: 'failed', error };
}

const TRUE = true as const;

const KINDS = {
  crashed: 'bad_response',
  protocol: 'bad_response',
  auth: 'auth',
  unavailable: 'invalid_request',
  timeout: 'timeout',
  error: 'overloaded',
  refusal: 'refused',
  limit: 'refused',
} as const satisfies Readonly<Record<NonNullable<ModelFailure['executor']>, ModelFailure['kind']>>;

export function executorFailure(
  { tree, use }: ExecutorRecorder,
  why: NonNullable<ModelFailure['executor']>,
  { message, fix, category }: Pick<ExecutorFailure, 'message' | 'fix'> & Pick<ModelFailure, 'category'>,
  sent: boolean,
): ModelFailure {
  // What comes from an executor begins with its name for people.
  const said = tree.redact(message.startsWith('it ') ? `${use.name}: ${message}` : message);
  return { kind: KINDS[why], message: said, executor: why, ...present({ fix, category }), ...(sent ? {} : { unsent: true }) };
}
