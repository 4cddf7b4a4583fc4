/** What is printed for `troupe why --cost`, `--end` and `--not-called`. */
import { eventPosition } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import type { readWhyDear, readWhyEnded, readWhyNotCalled } from '../../front/looking/asked-why.ts';
import { readableCost, readableCount, readableInAndOut } from '../../projections/readable.ts';
import { asCalled, type CommandContext, callOf } from '../terminal/command.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

type Dear = Awaited<ReturnType<typeof readWhyDear>>;

const HUNDRED = 100;
const percent = (share: number): string => `${Math.round(share * HUNDRED)} %`;
const moneyOf = (nanoUsd: number | null): string =>
  readableCost({ nanoUsd: nanoUsd ?? 0, unknownCalls: nanoUsd === null ? 1 : 0 });

export function printDear({ terminal: { out } }: CommandContext, dear: Dear): void {
  const { total, agents, turns, retries, growth } = dear;
  out.line(`${readableCost(total)} in ${counted(total.calls, 'call')}, ${readableInAndOut(total)}`);
  if (total.calls === 0) return;
  out.line();
  printTable(
    out,
    ['AGENT', 'RUNS', 'CALLS', 'IN', 'OUT', 'COST', 'SHARE'],
    agents.map((one) => [
      ...[safeLine(one.agent), String(one.runs), String(one.calls), readableCount(one.inputTokens)],
      ...[readableCount(one.outputTokens), readableCost(one), percent(one.share)],
    ]),
    ['SHARE'],
  );
  out.line();
  printTable(
    out,
    ['TURN', 'IN', 'OUT', 'COST', 'SHARE', 'EVENT'],
    turns.map((one) => [
      ...[`${safeLine(one.agent)} ${one.turn}`, readableCount(one.inputTokens), readableCount(one.outputTokens)],
      ...[moneyOf(one.nanoUsd), percent(one.share), placeOf(one.event)],
    ]),
    ['SHARE'],
  );
  out.line();
  out.line(`retries: ${retriesText(retries)}`);
  if (growth.length === 0) out.line('context: no run had more than one turn');
  for (const one of growth)
    out.line(
      `context: ${safeLine(one.agent)} began with ${readableCount(one.firstInputTokens)} tokens and ended with ${readableCount(one.lastInputTokens)} after ${counted(one.turns, 'turn')}; ${percent(one.sentAgainShare)} of what it sent had been sent before`,
    );
}

function retriesText({ failedAttempts, answersAfterFailure, ...spent }: Dear['retries']): string {
  if (failedAttempts === 0 && spent.calls === 0) return 'none';
  const cost = spent.calls === 0 ? 'none of which was charged for' : `${readableCost(spent)} for what ended without an answer`;
  return `${counted(failedAttempts, 'attempt')} failed, ${counted(answersAfterFailure, 'answer')} came only after one; ${cost}`;
}

export function printEnding(context: CommandContext, ended: Awaited<ReturnType<typeof readWhyEnded>>): void {
  const { out } = context.terminal;
  const place = ended.event === null ? '' : ` ${out.paint.dim(placeOf(ended.event))}`;
  out.line(`${safeLine(ended.agent)}: ${ended.reason.replaceAll('_', ' ')}: ${safeLine(ended.text)}${place}`);
  for (const { event, text } of ended.because) out.line(`because ${safeLine(text)} ${out.paint.dim(placeOf(event))}`);
  if (ended.next !== null) out.line(`next: ${asCalled(ended.next, callOf(context))}`);
}

export function printNotCalled(
  { terminal: { out } }: CommandContext,
  absent: Awaited<ReturnType<typeof readWhyNotCalled>>,
): void {
  for (const { agent, reason, text, event } of absent.runs) {
    const place = event === null ? '' : ` ${out.paint.dim(placeOf(event))}`;
    out.line(`${safeLine(agent)}: ${reason.replaceAll('_', ' ')}: ${safeLine(text)}${place}`);
  }
}

const placeOf = (event: string): string => `[${eventPosition(event) ?? event}]`;
