/**
 * The session loop: one agent, turn after turn, until it reports. Pure: everything it needs comes in, everything it does
 * goes through the ports, and the same recorded answers lead to the same result.
 *
 * - It makes at most `maxTurns` model calls; the last one may only report.
 * - It always ends with a report. If the agent gave none, a synthetic one says why and carries what there is.
 * - Every tool call gets exactly one result, in the order of the calls.
 */

import { parseJson } from '../base/json.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import { type AssistantMessage, type Message, type ToolCallPart, textOf, toolCallsOf } from '../events/messages.ts';
import type { ToolSpec } from '../models/port.ts';
import { type Conversation, createConversation } from './conversation.ts';
import { FINAL_REPORT, type FinalReport, finalReportSpec, parseFinalReport, reportBody } from './final-report.ts';
import { createLoopBreaker, type LoopBreaker } from './loop-breaker.ts';
import type { SessionInput, SessionPorts, SessionResult, TurnOutcome } from './port.ts';
import * as prompts from './prompts.ts';
import { errorPart, runToolCalls } from './tool-calls.ts';

interface Loop {
  readonly input: SessionInput;
  readonly ports: SessionPorts;
  readonly conversation: Conversation;
  readonly breaker: LoopBreaker;
  /** What is offered on an ordinary turn, and on the last one. The same arrays every time: models translate them once. */
  readonly offered: { readonly working: readonly ToolSpec[]; readonly last: readonly ToolSpec[] };
  readonly reportTool: ToolSpec | undefined;
  /** Why the next turn must be the last, once that is so. */
  mustEnd: string | undefined;
}

export async function runSession(input: SessionInput, ports: SessionPorts): Promise<SessionResult> {
  const { specs } = ports.tools;
  const reportTool = specs.length > 0 || input.output.schema !== undefined ? finalReportSpec(input.output) : undefined;
  const last = reportTool === undefined ? [] : [reportTool];
  const loop: Loop = {
    input,
    ports,
    conversation: createConversation(input),
    breaker: createLoopBreaker(input.limits.loopNudgeAt, input.limits.loopStopAt),
    offered: { working: [...specs, ...last], last },
    reportTool,
    mustEnd: undefined,
  };
  for (let turn = 1; turn <= input.limits.maxTurns; turn += 1) {
    if (ports.signal.aborted) return ended(loop, turn - 1, 'cancelled', { code: 'cancelled', message: 'The run was cancelled.' });
    await makeRoom(loop, turn);
    if (turn === input.limits.maxTurns && turn > 1) loop.mustEnd ??= prompts.outOfTurns;
    const result = await takeTurn(loop, turn);
    if (result !== undefined) return result;
  }
  return ended(loop, input.limits.maxTurns, 'failed', {
    code: 'no_report',
    message: `The agent used all ${input.limits.maxTurns} turns without giving an answer.`,
    fix: 'Raise maxTurns in the agent file, or give the agent a smaller task.',
  });
}

/** One model call and what follows from it. `undefined` when there is more to do. */
async function takeTurn(loop: Loop, turn: number): Promise<SessionResult | undefined> {
  const { conversation, ports } = loop;
  const final = loop.mustEnd !== undefined;
  if (loop.mustEnd !== undefined) conversation.add(prompts.lastTurn(loop.mustEnd, loop.reportTool !== undefined));
  const offered = final ? loop.offered.last : loop.offered.working;
  const outcome = await ports.model.ask({
    turn,
    messages: conversation.messages,
    newFrom: conversation.newFrom,
    tools: offered,
    toolChoice: final && loop.reportTool !== undefined ? { name: FINAL_REPORT } : undefined,
  });
  conversation.sent(outcome.kind === 'answer' ? outcome.answer.usage.inputTokens : undefined);
  if (outcome.kind !== 'answer') return turnFailed(loop, turn, outcome);
  conversation.add(outcome.answer.message);
  const calls = toolCallsOf(outcome.answer.message);
  if (calls.length === 0) return plainAnswer(loop, turn, outcome.answer.message);
  return afterCalls(loop, turn, calls, offered);
}

async function afterCalls(
  loop: Loop,
  turn: number,
  calls: readonly ToolCallPart[],
  offered: readonly ToolSpec[],
): Promise<SessionResult | undefined> {
  const reportCall = loop.reportTool === undefined ? undefined : calls.find((call) => call.name === FINAL_REPORT);
  const reported = reportCall === undefined ? undefined : parseFinalReport(reportCall, loop.input.output);
  const others = calls.filter((call) => call !== reportCall);
  const ran = await runToolCalls(turn, others, offered, loop.ports.tools, loop.input.limits.maxToolCallsPerTurn);
  if (reported?.ok === true) return reportGiven(loop, turn, reported.value);

  const results = calls.map((call) =>
    call === reportCall && reported?.ok === false
      ? errorPart(call, reported.error)
      : (ran[others.indexOf(call)] ?? errorPart(call, 'Not run.')),
  );
  loop.conversation.add({ role: 'tool', content: results });
  const verdict = loop.breaker.observe(calls, results);
  if (verdict === 'nudge') loop.conversation.add(prompts.repeating(loop.input.limits.loopNudgeAt));
  if (verdict === 'stop') loop.mustEnd = prompts.stuckInLoop;
  return undefined;
}

/** An answer without tool calls is the report, if it fits what was asked for. */
function plainAnswer(loop: Loop, turn: number, answer: AssistantMessage): SessionResult | undefined {
  const { output } = loop.input;
  const text = textOf(answer.content).trim();
  if (text === '') {
    loop.conversation.add(prompts.emptyAnswer);
    return undefined;
  }
  const value = output.format === 'json' ? parseJson(withoutFence(text)) : { ok: true as const, value: text };
  const body = value.ok
    ? reportBody(value.value, output)
    : { ok: false as const, error: `The answer is not valid JSON: ${value.error}` };
  if (!body.ok) {
    loop.conversation.add(prompts.badAnswer(body.error));
    return undefined;
  }
  return reportGiven(loop, turn, { report: { format: output.format, body: body.value }, success: true, claims: [] });
}

function reportGiven(loop: Loop, turn: number, given: FinalReport): SessionResult {
  return {
    status: given.success ? 'completed' : 'failed',
    report: given.report,
    claims: given.claims,
    error: given.success ? undefined : { code: 'reported_failure', message: 'The agent reported that it could not do it.' },
    turns: turn,
    messages: loop.conversation.messages,
  };
}

function turnFailed(loop: Loop, turn: number, outcome: Exclude<TurnOutcome, { kind: 'answer' }>): SessionResult | undefined {
  if (outcome.kind === 'no_budget')
    return ended(loop, turn - 1, 'budget_exhausted', { code: 'budget_exhausted', message: outcome.message });
  if (outcome.error.kind === 'cancelled')
    return ended(loop, turn, 'cancelled', { code: 'cancelled', message: 'The run was cancelled.' });
  if (outcome.error.kind === 'context_overflow' && loop.mustEnd === undefined) {
    // The estimate was too low for this model: condense and let it report while it still can.
    loop.mustEnd = prompts.outOfContext;
    return undefined;
  }
  return ended(loop, turn, 'failed', {
    code: `model_${outcome.error.kind}`,
    message: outcome.error.message,
    fix: fixFor(outcome.error),
  });
}

/** Condenses old turns when the window fills up, and asks for the report when that is not enough. */
async function makeRoom(loop: Loop, turn: number): Promise<void> {
  const { conversation, ports } = loop;
  if (conversation.judge() === 'fits' && loop.mustEnd !== prompts.outOfContext) return;
  const condensed = conversation.digest(ports.reference);
  if (condensed !== undefined) {
    const summary = await ports.condense(turn, condensed.text, condensed.keptFrom);
    conversation.replace(condensed.keptFrom, summary);
  }
  if (conversation.judge() === 'overflow') loop.mustEnd ??= prompts.outOfContext;
}

/** A run never ends without a result: this one says why there is no better one, and carries the last words. */
function ended(
  loop: Loop,
  turns: number,
  status: 'failed' | 'cancelled' | 'budget_exhausted',
  error: NonNullable<SessionResult['error']>,
): SessionResult {
  const last = lastWords(loop.conversation.messages);
  const body = last === '' ? error.message : `${error.message}\n\nThe last thing the agent said:\n\n${last}`;
  return {
    status,
    report: { format: 'text', body, synthetic: true },
    claims: [],
    error,
    turns,
    messages: loop.conversation.messages,
  };
}

function lastWords(messages: readonly Message[]): string {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role === 'assistant') {
      const text = textOf(message.content).trim();
      if (text !== '') return text;
    }
  }
  return '';
}

function withoutFence(text: string): string {
  return /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1] ?? text;
}

function fixFor(error: ModelFailure): string | undefined {
  if (error.kind === 'auth') return 'Check the API key in the environment; `troupe doctor` lists which keys are found.';
  if (error.kind === 'rate_limited' || error.kind === 'overloaded')
    return 'Resume later, raise maxRetries, or name a fallback model.';
  if (error.kind === 'script_ended') return 'Add replies to the script, or use a real model.';
  return undefined;
}
