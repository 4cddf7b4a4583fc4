/**
 * The loop: one agent, turn after turn, until it reports. Pure: everything it needs comes in, everything it does
 * goes through the ports, and the same recorded answers lead to the same result.
 *
 * - It makes at most `maxTurns` model calls; the last one may only report.
 * - It always ends with a report. If the agent gave none, a synthetic one says why and carries what there is.
 * - Every tool call gets exactly one result, in the order of the calls.
 */

import { isJsonObject } from '../base/json.ts';
import { counted } from '../base/wording.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf, toolCallsOf } from '../events/messages.ts';
import type { ModelAnswer, ToolSpec } from '../models/port.ts';
import { type Conversation, createConversation } from './conversation.ts';
import { createLoopBreaker, type LoopBreaker } from './loop-breaker.ts';
import {
  CANCELLED,
  type Checkpoint,
  type Ending,
  type Exit,
  type LoopInput,
  type LoopPorts,
  type LoopResult,
  type TurnOutcome,
  type TurnRequest,
} from './port.ts';
import * as prompts from './prompts.ts';
import { errorPart, runToolCalls } from './tool-calls.ts';
import { lastWordsOf, type WithoutReport, withoutReport } from './without-report.ts';

interface Loop {
  readonly input: LoopInput;
  readonly ports: LoopPorts;
  readonly conversation: Conversation;
  readonly breaker: LoopBreaker;
  /** What is offered on an ordinary turn, and on the last one. The same arrays every time: models translate them once. */
  readonly offered: { readonly working: readonly ToolSpec[]; readonly last: readonly ToolSpec[] };
  /** Why the next turn must be the last, once that is so. */
  mustEnd: string | undefined;
  /** How often the agent was told that it was its last turn. */
  toldToEnd: number;
}

/** Somebody who does not end when told so does not do it later either: each time costs a call. */
const LAST_TURNS = 3;

export async function runLoop(input: LoopInput, ports: LoopPorts): Promise<LoopResult> {
  const exits = input.exits.map((exit) => exit.spec);
  const loop: Loop = {
    input,
    ports,
    conversation: createConversation(input),
    breaker: createLoopBreaker(input.limits.loopNudgeAt, input.limits.loopStopAt),
    offered: {
      working: [...ports.tools.specs, ...exits],
      last: input.exits.filter((exit) => exit.goesOn !== true).map((exit) => exit.spec),
    },
    mustEnd: undefined,
    toldToEnd: 0,
  };
  const { from } = input;
  if (from !== undefined) goOn(loop, from);
  for (let turn = from?.turn ?? 1; turn <= input.limits.maxTurns; turn += 1) {
    // What happened before the run was taken up again is gone through all the same: whatever it began has to come to its end.
    if (ports.signal.aborted && ports.model.begun?.(turn) !== true)
      return ended(loop, turn - 1, 'cancelled', { code: 'cancelled', message: CANCELLED });
    if (turn !== from?.turn) {
      await listen(loop, turn);
      await makeRoom(loop, turn);
    }
    if (turn === input.limits.maxTurns && (turn > 1 || couldGoOn(loop))) endSoon(loop, prompts.outOfTurns);
    const result = (await takeTurn(loop, turn)) ?? endless(loop, turn);
    if (result !== undefined) return result;
  }
  const all = input.limits.maxTurns + input.limits.turnsBefore;
  return ended(loop, input.limits.maxTurns, 'failed', {
    code: 'no_report',
    message: `The agent used its ${counted(all, 'turn')} without giving an answer.`,
    fix: `Go on with more: troupe resume <run> --max-turns ${all * 2}. Or raise maxTurns in its file, or give a smaller task.`,
  });
}

/** Whether there is anything that it could do instead of giving its answer. */
const couldGoOn = ({ ports, input }: Loop): boolean =>
  ports.tools.specs.length > 0 || input.exits.some((exit) => exit.goesOn === true);

/** The end of a loop whose agent goes on although every turn could be its last. */
function endless(loop: Loop, turn: number): LoopResult | undefined {
  if (loop.mustEnd === undefined || loop.toldToEnd < LAST_TURNS || turn >= loop.input.limits.maxTurns) return undefined;
  return ended(loop, turn, 'failed', {
    code: 'no_report',
    message: `The agent was told ${counted(loop.toldToEnd, 'time')} to give its answer and did not.`,
    fix: 'Look at what it did with `troupe show <run>`; a clearer task or another model may help.',
  });
}

/** Stands where the turn stood when its conversation had just been condensed. */
function goOn(loop: Loop, { messages, ending }: Checkpoint): void {
  if (ending !== undefined) endSoon(loop, ending.why);
  loop.toldToEnd = ending?.told ?? 0;
  loop.breaker.recall(messages);
  endIfFull(loop);
}

function endIfFull(loop: Loop): void {
  if (loop.conversation.judge() === 'overflow') endSoon(loop, prompts.outOfContext);
}

/** The next turn is the last, and the agent is told so. One that lives elsewhere is not: to it that would be new work. */
function endSoon(loop: Loop, why: string): void {
  if (loop.input.elsewhere !== true) loop.mustEnd ??= why;
}

/** Takes in what others have said since the last turn. */
async function listen(loop: Loop, turn: number): Promise<void> {
  const { conversation, ports } = loop;
  const incoming = await ports.incoming?.(turn, conversation.roomTokens());
  for (const message of incoming?.messages ?? []) conversation.add(message);
  if (incoming?.overflow === true) endSoon(loop, prompts.outOfContext);
}

/** One model call and what follows from it. `undefined` when there is more to do. */
async function takeTurn(loop: Loop, turn: number): Promise<LoopResult | undefined> {
  const { conversation, ports } = loop;
  const final = loop.mustEnd !== undefined;
  const { last, working } = loop.offered;
  if (loop.mustEnd !== undefined) {
    loop.toldToEnd += 1;
    conversation.add(
      prompts.lastTurn(
        loop.mustEnd,
        last.map((spec) => spec.name),
      ),
    );
  }
  const outcome = await ports.model.ask({
    turn,
    messages: conversation.messages,
    newFrom: conversation.newFrom,
    tools: final ? last : working,
    toolChoice: final ? onlyExits(last) : undefined,
  });
  conversation.sent(outcome.kind === 'answer' ? outcome.answer.usage.inputTokens : undefined);
  if (outcome.kind !== 'answer') return turnFailed(loop, turn, outcome);
  conversation.add(outcome.answer.message);
  const calls = toolCallsOf(outcome.answer.message);
  if (calls.length === 0) return await plainAnswer(loop, turn, outcome.answer);
  return afterCalls(loop, turn, calls, final ? last : working);
}

function onlyExits(exits: readonly ToolSpec[]): TurnRequest['toolChoice'] {
  const [only] = exits;
  if (only === undefined) return undefined;
  return exits.length === 1 ? { name: only.name } : 'required';
}

async function afterCalls(
  loop: Loop,
  turn: number,
  calls: readonly ToolCallPart[],
  offered: readonly ToolSpec[],
): Promise<LoopResult | undefined> {
  if (loop.input.elsewhere === true && turn >= loop.input.limits.maxTurns) return unanswered(loop, turn, calls);
  const exitCall = calls.find((call) => exitOf(loop, call, offered) !== undefined);
  const taken = exitCall === undefined ? undefined : await exitOf(loop, exitCall, offered)?.take(exitCall);
  const others = calls.filter((call) => call !== exitCall);
  const ran = await runToolCalls(turn, others, offered, loop.ports.tools, loop.input.limits.maxToolCallsPerTurn);
  if (taken?.ok === true && !(await mustHearMore(loop, turn))) return endedBy(turn, taken.value);

  const refused = taken?.ok === false ? taken.error : prompts.newsFirst;
  const results = calls.map((call) =>
    call === exitCall ? errorPart(call, refused) : (ran[others.indexOf(call)] as ToolResultPart),
  );
  loop.conversation.add({ role: 'tool', content: results });
  if (loop.input.elsewhere === true) return undefined;
  const verdict = loop.breaker.observe(calls, results);
  if (verdict === 'nudge') loop.conversation.add(prompts.repeating(loop.input.limits.loopNudgeAt));
  if (verdict === 'stop') loop.mustEnd = prompts.stuckInLoop;
  return undefined;
}

/** An agent elsewhere asks, and there is no turn left that could carry the answer: nobody is asked for one. */
function unanswered(loop: Loop, turn: number, calls: readonly ToolCallPart[]): LoopResult {
  const { agent, limits } = loop.input;
  const all = limits.maxTurns + limits.turnsBefore;
  const asked = calls.map(({ input }) => (isJsonObject(input) ? String(input['question'] ?? '') : '')).join('\n');
  return ended(loop, turn, 'failed', {
    code: 'no_report',
    message: `${agent} asks something and has used its ${counted(all, 'turn')}: ${asked}`,
    fix: 'Run it again with more turns (--max-turns, or maxTurns in its file), or say in the prompt what it asks for.',
  });
}

function exitOf(loop: Loop, call: ToolCallPart, offered: readonly ToolSpec[]): Exit | undefined {
  return loop.input.exits.find((exit) => exit.spec.name === call.name && offered.includes(exit.spec));
}

/** An answer without tool calls ends the loop, if it fits what was asked for. */
async function plainAnswer(loop: Loop, turn: number, { message, finish }: ModelAnswer): Promise<LoopResult | undefined> {
  const { agent, elsewhere } = loop.input;
  const text = textOf(message.content).trim() || (elsewhere === true ? prompts.saidNothing(agent) : '');
  const ending = text === '' ? undefined : loop.input.plain(text);
  if (ending?.ok === true) {
    const { report } = ending.value;
    const whole = finish === 'length' ? { ...ending.value, report: { ...report, cut: true } } : ending.value;
    if (!(await mustHearMore(loop, turn))) return endedBy(turn, whole);
    if (elsewhere !== true) loop.conversation.add(prompts.newsBeforeAnswer());
  } else if (elsewhere === true) {
    const problem = ending?.error ?? '';
    return ended(loop, turn, 'failed', {
      code: 'no_report',
      message: `The answer of ${agent} is not what was asked for. ${problem}`,
    });
  } else loop.conversation.add(ending === undefined ? prompts.emptyAnswer() : prompts.badAnswer(ending.error));
  return undefined;
}

/** Whoever was written to while it worked hears it before it ends, as long as there is a turn left to do so. */
async function mustHearMore(loop: Loop, turn: number): Promise<boolean> {
  if (loop.mustEnd !== undefined || turn >= loop.input.limits.maxTurns || loop.ports.signal.aborted) return false;
  return (await loop.ports.unheard?.(turn)) === true;
}

function endedBy(turn: number, ending: Ending): LoopResult {
  return {
    status: ending.success ? 'completed' : 'failed',
    report: ending.report,
    claims: ending.claims,
    exit: ending.exit,
    error: ending.success ? undefined : { code: 'reported_failure', message: 'The agent reported that it could not do it.' },
    turns: turn,
  };
}

function turnFailed(loop: Loop, turn: number, outcome: Exclude<TurnOutcome, { kind: 'answer' }>): LoopResult | undefined {
  if (outcome.kind === 'no_budget')
    return {
      ...ended(loop, turn - 1, 'budget_exhausted', { code: 'budget_exhausted', message: outcome.message }),
      exhausted: outcome.scope,
    };
  if (outcome.error.kind === 'cancelled') return ended(loop, turn, 'cancelled', { code: 'cancelled', message: CANCELLED });
  if (outcome.error.kind === 'context_overflow' && loop.mustEnd === undefined && loop.input.elsewhere !== true) {
    // The estimate was too low for this model: condense and let it report while it still can.
    loop.mustEnd = prompts.outOfContext;
    return undefined;
  }
  return ended(loop, turn, 'failed', {
    code: codeOf(outcome.error),
    message: outcome.error.message,
    fix: fixFor(outcome.error),
    category: outcome.error.category,
  });
}

const codeOf = ({ kind, peer, executor }: ModelFailure): string =>
  executor === undefined ? `${peer === true ? 'peer' : 'model'}_${kind}` : `executor_${executor}`;

/** Condenses old turns when the window fills up or somebody asked for it, and asks for the report when that is not enough. */
async function makeRoom(loop: Loop, turn: number): Promise<void> {
  const { conversation, ports } = loop;
  const asked = turn === 1 && loop.input.condense === true;
  if (!asked && conversation.judge() === 'fits' && loop.mustEnd !== prompts.outOfContext) return;
  const left = conversation.condensed(ports.reference, asked);
  if (left !== undefined) {
    const { mustEnd: why, toldToEnd: told } = loop;
    const summary = await ports.condense({ turn, ...left, ...(why === undefined ? {} : { ending: { why, told } }) });
    conversation.replace(left, summary);
    loop.breaker.recall(conversation.messages);
  }
  endIfFull(loop);
}

function ended(loop: Loop, turns: number, status: WithoutReport['status'], error: WithoutReport['error']): LoopResult {
  return withoutReport({ status, error, turns, lastWords: lastWordsOf(saidSince(loop)) });
}

/** What was said before the request was an answer to somebody else's. */
function saidSince({ conversation: { messages }, input: { request } }: Loop): readonly Message[] {
  return messages.slice(messages.indexOf(request) + 1);
}

function fixFor(error: ModelFailure): string | undefined {
  if (error.fix !== undefined) return error.fix;
  if (error.peer === true) return fixThere(error);
  if (error.executor !== undefined) return undefined;
  if (error.kind === 'auth') return 'Check the API key in the environment; `troupe doctor` lists which keys are found.';
  if (error.kind === 'rate_limited') return 'Try again later, raise maxRetries, or name a fallback model.';
  if (error.kind === 'overloaded')
    return 'Try again later, raise maxRetries (for an outage: outagePatience), or name a fallback model.';
  if (error.kind === 'timeout') return 'Raise llmTimeout in the agent file, or name a faster or a fallback model.';
  if (error.kind === 'network') return 'Check the network and the address of the provider, then try again.';
  if (error.kind === 'bad_response')
    return 'Check that the address of the provider is right and that no proxy or sign-in page answers in its place.';
  if (error.kind === 'invalid_request') return 'Check the name of the model, and what the agent file asks of it.';
  if (error.kind === 'script_ended') return 'Add replies to the script, or use a real model.';
  return undefined;
}

/** For an agent that lives elsewhere. */
function fixThere({ kind }: ModelFailure): string | undefined {
  if (kind === 'auth') return 'Check the token or the headers that its file names.';
  if (kind === 'network' || kind === 'timeout' || kind === 'overloaded')
    return 'Check that the agent can be reached (`troupe doctor` tries it).';
  if (kind === 'rate_limited') return 'Try again later.';
  return undefined;
}
