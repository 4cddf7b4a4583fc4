/**
 * The model as the loop sees it: each turn's call is a recorded step. The request is durable before the call, the
 * answer is queued before anything is done with it, and a call that was answered before a crash is not made again.
 */

import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { startOf } from '../../base/whole-words.ts';
import type { ModelFailure, Payloads } from '../../events/catalogue.ts';
import { toolCallsOf } from '../../events/messages.ts';
import type { LoopModel, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import { cancelledFailure, costNothing } from '../../models/failures.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from '../../models/port.ts';
import { askWithRetries, type Patience } from '../../models/retry.ts';
import { leavesSystem, type OriginOf, withoutParts } from '../../projections/context/context-parts.ts';
import { originOfSaid } from '../../projections/transcript.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { WallTimeOver } from '../hearing/stop-reason.ts';
import { Interruption } from '../interruption.ts';
import type { LedgerAccess, ModelAccess, ReplayAccess, TimeAndIds } from '../options.ts';
import type { LivePiece } from '../port.ts';
import { type AgentSetup, loopLimits } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { leftOutOf } from '../record/standing-events.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import { type Attempts, createAttempts, type GivenUp, type Refused } from '../spending/attempts.ts';
import { limitingScopes } from '../spending/budget.ts';
import type { Spends } from '../spending/spending.ts';
import { createSpendMeter, type SpendMeter, unlimited, type WorstCase } from '../spending/worst-case.ts';
import type { AsksAgain } from './askable-agents.ts';
import { createOfferedClarifications } from './offered-clarifications.ts';
import { outageSoFar, standsStill } from './outage.ts';
import { announceTurn, noBudget, recordedOutcome, settleDoubt, TURN_CANCELLED, type TurnRecorder } from './turn-records.ts';

export interface ShowsLive {
  /** Where pieces of an answer go while it comes; undefined when nobody watches. */
  live(node: DrivenRun, turn: number): ((delta: LivePiece['delta'], attempt?: number) => void) | undefined;
}

/** What asking a model takes. */
export type AsksModels = TimeAndIds &
  Pick<LedgerAccess, 'ledger'> &
  ModelAccess &
  ReplayAccess &
  Writes &
  HearsOutside &
  HearsRuns &
  Spends &
  AsksAgain &
  ShowsLive;

interface Recorder extends TurnRecorder {
  readonly tree: AsksModels;
  readonly meter: SpendMeter;
}

export function recordedModel(tree: AsksModels, node: DrivenRun, setup: AgentSetup, stepIndex: StepIndex): LoopModel {
  const meter = createSpendMeter(tree.prices, setup.system);
  const recorder: Recorder = { tree, node, setup, stepIndex, meter };
  const answered = createOfferedClarifications(() => tree.askable.own(node.run));
  return {
    begun: (turn) => node.journal.recorded('model.request', `turn/${turn}/model`) !== undefined,
    async ask(request) {
      const step = `turn/${request.turn}/model`;
      const known = await recordedOutcome(recorder, step, request);
      if (known !== undefined) {
        const [only, ...others] = setup.models;
        // Of several models, the ledger does not say which one has counted.
        if (known.kind === 'answer' && only !== undefined && others.length === 0)
          meter.counted(only, request, known.answer.usage);
        return known;
      }
      return await tree.atWork.during(() => askNow(recorder, step, { ...request, tools: answered(request.tools) }));
    },
  };
}

async function askNow(recorder: Recorder, step: string, request: TurnRequest): Promise<TurnOutcome> {
  const { tree, node, setup } = recorder;
  tree.checkpoint(node);
  settleDoubt(recorder, step);
  noteLast(recorder, node.journal.recorded('model.failed', step)?.payload.error);
  noteCutOff(recorder, step, request);
  if (node.abort.signal.aborted) return TURN_CANCELLED;
  const exhausted = tree.spending.exhausted(node);
  if (exhausted !== undefined) return noBudget(exhausted);
  const opened = await openModels(tree, setup);
  if (!opened.ok) return await withoutModel(recorder, step, request.turn, opened.error);

  const attempts = createAttempts(tree, node, step, limitingScopes(node.scopes));
  try {
    return await attempt(recorder, step, request, opened.value, attempts);
  } finally {
    attempts.done();
  }
}

async function attempt(
  recorder: Recorder,
  step: string,
  request: TurnRequest,
  models: readonly Model[],
  attempts: Attempts,
): Promise<TurnOutcome> {
  const { tree, node, setup, meter } = recorder;
  const startedAt = tree.clock.elapsed();
  let asked: string | undefined;
  let worst: WorstCase | undefined;
  let failures = 0;
  const worstOf = async (model: string): Promise<WorstCase> => {
    const most = await models.find(({ id }) => id === model)?.mostOutput?.(settingsOf(setup));
    return meter.worstCase(model, request, most ?? loopLimits(setup.definition).maxOutputTokens);
  };
  const outcome = await askWithRetries<Refused | GivenUp>(models, modelRequest(recorder, step, request), {
    maxRetries: setup.definition.maxRetries ?? limits.maxRetries,
    outage: patienceOf(recorder, attempts),
    clock: tree.clock,
    random: tree.random,
    quota: tree.quota,
    async before(model) {
      const first = asked === undefined;
      asked = model;
      // Where no budget limits it, what it could cost is asked when it has failed.
      worst = attempts.limited ? await worstOf(model) : undefined;
      return await announceTurn(recorder, step, request, first, attempts, worst ?? unlimited(model));
    },
    async onFailure({ model, attempt, error: failure, final, nextInMs }) {
      const error = stoppedBy(node, failure);
      failures = attempt;
      noteLast(recorder, error);
      worst ??= await worstOf(model);
      const base = { turn: request.turn, model, attempt, error, ...doubtOf(error, worst) };
      if (final && error.kind === 'cancelled') await leaveOrEnd(recorder, step, base);
      const failed = node.journal.event('model.failed', { ...base, final, ...(final ? {} : { nextInMs }) }, { step });
      const { events, options } = attempts.failed(error);
      if (final) await tree.writer.write([failed, ...events], options);
      else tree.writer.enqueue([failed, ...events], options);
    },
  });
  if (outcome.kind === 'vetoed') return outcome.veto.kind === 'refused' ? noBudget(outcome.veto) : TURN_CANCELLED;
  if (outcome.kind === 'failed') return outcome;
  node.lastKnown = undefined;
  meter.counted(asked ?? '', request, outcome.answer.usage);
  const durationMs = Math.round(tree.clock.elapsed() - startedAt);
  return record(recorder, step, request, outcome.answer, attempts, { attempts: failures + 1, durationMs });
}

/**
 * How long an outage is waited for. A number of tries in the agent's file holds for outages too, unless that says how long as
 * well. A budget is not used up by waiting: where it counts calls nothing more is tried, and where it counts what they cost only
 * what is certainly free.
 */
function patienceOf({ tree, node, setup: { definition } }: Recorder, { limited }: Attempts): Patience | undefined {
  if (node.scopes.some(({ limit }) => limit.calls !== undefined)) return undefined;
  const usual = definition.maxRetries === undefined ? limits.outagePatienceMs : 0;
  const soFar = (model: string): Promise<number> => outageSoFar(tree, model);
  return { ms: definition.outagePatience ?? usual, onlyFree: limited, ...(standsStill(node) ? { soFar } : {}) };
}

/** A call that is stopped since its run is left is made again when that goes on; it may have been paid for all the same. */
async function leaveOrEnd(
  { tree, node }: Recorder,
  step: string,
  stopped: Omit<Payloads['model.failed'], 'final'>,
): Promise<void> {
  try {
    tree.checkpoint(node);
  } catch (why) {
    const event = node.journal.event('model.failed', { ...stopped, error: LEFT, final: false }, { step });
    // Where nothing can be written any more, whoever takes the run up finds that it was cut off.
    if (stopped.inDoubt === true) await tree.writer.write([event]).catch(() => undefined);
    throw why;
  }
}

/** What a limit of time has stopped was not cancelled, and says which limit it was. */
function stoppedBy({ abort }: DrivenRun, error: ModelFailure): ModelFailure {
  const { reason } = abort.signal as { readonly reason: unknown };
  return error.kind === 'cancelled' && reason instanceof WallTimeOver ? { ...error, message: reason.message } : error;
}

/** For whoever wants to know why it was not done in time. */
function noteLast({ node }: Recorder, error: ModelFailure | undefined): void {
  if (error === undefined || error.kind === 'cancelled') return;
  node.lastKnown = startOf(`the last try failed: ${error.message}`, limits.peerReasonCharacters);
}

const LEFT: ModelFailure = { kind: 'cancelled', message: 'The run was left in the middle of the call.' };

/** A request that was cut off and of which nothing more is known: it may have been answered, and paid for. */
function noteCutOff({ tree, node, setup, meter }: Recorder, step: string, request: TurnRequest): void {
  const asked = node.journal.recorded('model.request', step);
  if (asked === undefined || node.journal.recorded('model.failed', step) !== undefined) return;
  // What ended it then was recorded, and is undone.
  if (node.journal.past.some((event) => event.event_type === 'run.reopened' && event.position > asked.position)) return;
  const final = node.abort.signal.aborted;
  const [model = ''] = setup.models;
  const worst = meter.worstCase(model, request, loopLimits(setup.definition).maxOutputTokens);
  const doubt = doubtOf(cancelledFailure, worst);
  if (!final && doubt.inDoubt !== true) return;
  const payload = {
    turn: request.turn,
    model,
    attempt: 1,
    error: final ? stoppedBy(node, cancelledFailure) : LEFT,
    final,
    ...doubt,
  };
  tree.writer.enqueue([node.journal.event('model.failed', payload, { step })]);
}

/** What cost something, perhaps, at a price that is not nothing. */
const doubtOf = (error: ModelFailure, worst: WorstCase | undefined): Pick<Payloads['model.failed'], 'inDoubt'> =>
  costNothing(error) || worst?.amounts.nanoUsd === 0 ? {} : { inDoubt: true };

/** A run that has asked a model before has none just now, which is no reason to end it. One that never had any has failed. */
async function withoutModel(
  { tree, node, setup }: Recorder,
  step: string,
  turn: number,
  error: ModelFailure,
): Promise<TurnOutcome> {
  if (node.journal.latest('model.request') !== undefined) throw new Interruption('interrupted', error.message);
  const payload = { turn, model: setup.models[0] ?? '', attempt: 1, error: { ...error, unsent: true }, final: true };
  await tree.writer.write([node.journal.event('model.failed', payload, { step })]);
  return { kind: 'failed', error };
}

function record(
  { tree, node, setup, stepIndex }: Recorder,
  step: string,
  request: TurnRequest,
  answer: ModelAnswer,
  attempts: Attempts,
  effort: { readonly attempts: number; readonly durationMs: number },
): TurnOutcome {
  const { message, finish, usage, served } = withIds(answer, request.turn);
  const { prices } = tree;
  const requested = setup.models[0] ?? '';
  const nanoUsd = prices.cost(served, usage) ?? prices.cost(requested, usage);
  const cost = nanoUsd === undefined ? {} : { cost: { nanoUsd, prices: prices.version } };
  const payload = { turn: request.turn, message, finish, usage, requested, served, ...effort, ...cost };
  const event = node.journal.event('model.response', payload, { step });
  const { events, options } = attempts.answered(usage, nanoUsd);
  tree.writer.enqueue([event, ...events], options);
  stepIndex.place(message, step);
  return { kind: 'answer', answer: { message, finish, usage, served } };
}

function modelRequest({ tree, node, setup, stepIndex }: Recorder, step: string, request: TurnRequest): ModelRequest {
  const without = leftOutOf(node.journal.past);
  const originOf: OriginOf = (item) => {
    const { step: of, run = node.run } = stepIndex.placeOf(item);
    return of === undefined ? originOfSaid(item) : `${run} ${of}`;
  };
  return {
    agent: setup.definition.name,
    // Only what goes out lacks a part: what was said stays as it is recorded.
    system: leavesSystem(without) ? '' : setup.system,
    messages: withoutParts(request.messages, without, originOf),
    tools: request.tools,
    toolChoice: request.toolChoice,
    outputSchema: request.outputSchema,
    settings: settingsOf(setup),
    idempotencyKey: `${node.run}/${step}`,
    timeoutMs: setup.definition.llmTimeout ?? limits.llmTimeoutMs,
    signal: node.abort.signal,
    onDelta: tree.live(node, request.turn),
  };
}

function settingsOf({ definition }: AgentSetup): ModelSettings {
  const { maxOutputTokens, temperature, topP, reasoning } = definition;
  return { maxOutputTokens: maxOutputTokens ?? limits.maxOutputTokens, temperature, topP, reasoning };
}

async function openModels(tree: ModelAccess, setup: AgentSetup): Promise<Result<readonly Model[], ModelFailure>> {
  const models: Model[] = [];
  let failure: ModelFailure | undefined;
  for (const name of setup.models) {
    const opened = await tree.models.open(name);
    if (opened.ok) models.push(opened.value);
    else failure ??= opened.error;
  }
  return models.length > 0 ? ok(models) : fail(failure ?? { kind: 'invalid_request', message: 'The agent names no model.' });
}

/** Some providers repeat or omit call ids; results are matched by them, so each call of a turn gets one of its own. */
function withIds(answer: ModelAnswer, turn: number): ModelAnswer {
  const calls = toolCallsOf(answer.message);
  const ids = new Set(calls.map((call) => call.id));
  if (ids.size === calls.length && !ids.has('')) return answer;
  let index = 0;
  const content = answer.message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, id: `call_${turn}_${index++}` } : part,
  );
  return { ...answer, message: { role: 'assistant', content } };
}
