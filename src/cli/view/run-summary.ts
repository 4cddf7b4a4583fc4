/** What is said about a run at its end or later: one object for programs, a few lines for people. */

import { unreachable } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { OpenWait, PermissionWait, RunEnd } from '../../engine/port.ts';
import type { Failure, Report, Verification } from '../../events/catalogue.ts';
import type { GroupProgress } from '../../projections/patterns/group-progress.ts';
import { readableCost, readableCount, readableDuration } from '../../projections/readable.ts';
import { type RunNode, type RunTree, subtreeDoings } from '../../projections/run-tree.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';

const REASONS_SHOWN = 5;

/** The stable shape behind `--json` of run, resume and show. Fields may be added, never changed. */
export interface RunSummary {
  readonly run: string;
  readonly session: string;
  readonly agent: string;
  readonly finalAgent: string | null;
  readonly status: RunNode['state'] | 'interrupted' | 'lost';
  readonly verification: Verification | null;
  readonly report: Report | null;
  readonly error: Failure | null;
  /** The answer ends where the model's limit was reached. */
  readonly cutShort: boolean;
  readonly turns: number;
  readonly toolCalls: number;
  /** Calls that were not made because their exact arguments are gone. */
  readonly callsGone: number;
  readonly runs: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
  /** Billionths of a dollar that are known, and how many calls have no known price. */
  readonly cost: { readonly nanoUsd: number; readonly unknownCalls: number };
  readonly durationMs: number;
  readonly waits: readonly OpenWait[];
  /** Of a run that is a reflect loop: the rule that ended it, and what each iteration was judged to be worth. */
  readonly loop?: { readonly ended: GroupProgress['stop']; readonly scores: readonly (number | null)[] };
  readonly ledger: string;
}

export interface SummaryFacts {
  readonly session: string;
  readonly ledger: string;
  readonly now: number;
  readonly end?: RunEnd | undefined;
  readonly waits?: readonly OpenWait[] | undefined;
}

export function summarise(tree: RunTree, node: RunNode, facts: SummaryFacts): RunSummary {
  const { runs, turns, toolCalls, gone = 0, spent } = subtreeDoings(tree, node.run);
  return {
    run: node.run,
    session: facts.session,
    agent: node.agent,
    finalAgent: node.finalAgent,
    status: statusOf(node, facts.end),
    verification: node.verification,
    report: node.report,
    error: node.error ?? (facts.end?.kind === 'interrupted' ? (facts.end.error ?? null) : null),
    cutShort: node.cutShort && node.endedAt !== null,
    turns,
    toolCalls,
    callsGone: gone,
    runs,
    tokens: { input: spent.inputTokens, output: spent.outputTokens, cached: spent.cacheReadTokens },
    cost: { nanoUsd: spent.nanoUsd, unknownCalls: spent.unknownCalls },
    durationMs: Math.max(0, (node.endedAt ?? facts.now) - node.startedAt),
    waits: facts.waits ?? (facts.end?.kind === 'waiting' ? facts.end.waits : []),
    ...loopOf(tree, node),
    ledger: facts.ledger,
  };
}

function loopOf({ progress }: RunTree, { run }: RunNode): Pick<RunSummary, 'loop'> {
  const group = progress.groups.get(run);
  const judged = group?.iterations.some(({ score }) => score !== null);
  if (group === undefined || (group.stop === null && !judged)) return {};
  return { loop: { ended: group.stop, scores: group.iterations.map(({ score }) => score) } };
}

/** `call` is how the command line is called here: commands that are shown can be copied. */
export function summaryLines(summary: RunSummary, paint: Screen['paint'], call: string): readonly string[] {
  const { input, output } = summary.tokens;
  const facts = [
    counted(summary.turns, 'turn'),
    // A model that was asked has read something: what it did not report is not nothing.
    summary.turns > 0 && input + output === 0
      ? 'tokens not reported'
      : `${readableCount(input + output)} tokens (${readableCount(input)} in, ${readableCount(output)} out)`,
    readableCost(summary.cost),
    readableDuration(summary.durationMs),
  ];
  const lines = [
    `${statusText(summary, paint)} ${paint.dim('·')} ${facts.join(paint.dim(' · '))}`,
    ...troubleLines(summary, paint, call),
  ];
  if (summary.finalAgent !== null && summary.finalAgent !== summary.agent)
    lines.push(`${paint.dim('answer')}  from ${safeLine(summary.finalAgent)}`);
  lines.push(`${paint.dim('run')}     ${summary.run}`);
  lines.push(`${paint.dim('ledger')}  ${summary.ledger}`);
  for (const [index, command] of nextCommands(summary).entries()) {
    lines.push(`${index === 0 ? paint.dim('next') : '    '}    ${call} ${command} ${shortId(summary.run)}`);
  }
  return lines;
}

/** What went wrong, why, and what is to be done about it. */
export function troubleLines(summary: RunSummary, paint: Screen['paint'], call: string): readonly string[] {
  const lines: string[] = [];
  if (summary.error !== null) {
    lines.push(`${paint.red('why')}     ${safeLine(summary.error.message)}`);
    if (summary.error.fix !== undefined) lines.push(`${paint.dim('fix')}     ${safeLine(summary.error.fix)}`);
  }
  if (summary.cutShort)
    lines.push(`${paint.yellow('cut')}     the answer ends where the limit of one answer was reached (maxOutputTokens)`);
  for (const reason of reasonsOf(summary)) lines.push(`${paint.yellow('why')}     ${safeLine(reason)}`);
  if (summary.callsGone > 0) lines.push(...goneLines(summary.callsGone, paint, call));
  return lines;
}

function goneLines(count: number, paint: Screen['paint'], call: string): readonly string[] {
  const [were, their] = count === 1 ? ['was', 'its'] : ['were', 'their'];
  return [
    `${paint.yellow('gone')}    ${counted(count, 'call')} ${were} not made: ${their} exact arguments are gone`,
    `${paint.dim('fix')}     they held a secret, and the key that sealed them is not here: see \`${call} doctor\``,
  ];
}

/** How to answer, exactly: a line for each open question. */
export function waitLines(waits: readonly OpenWait[], call: string): readonly string[] {
  return waits.flatMap((wait) => {
    const run = shortId(wait.run);
    const named = waits.filter((other) => other.run === wait.run).length > 1 ? ` --wait ${wait.wait}` : '';
    // A permission is asked for in a sentence of our own, which names the agent.
    if (wait.kind === 'permission') {
      const question = safeText(wait.question).split('\n');
      // What is not all here is looked at first.
      if (wait.missing > 0) return [...question, `  ${call} show ${run} --request`, denyLine(call, run, named)];
      return [...question, ...permissionLines(wait, call, named)];
    }
    const asked = `${safeLine(wait.agent)} asks: ${safeLine(wait.question)}`;
    const choices =
      wait.choices === undefined || wait.choices.length === 0 ? [] : [`  choices: ${wait.choices.map(safeLine).join(' | ')}`];
    return [asked, ...choices, `  ${call} answer ${run}${named} "your answer"`];
  });
}

/** How to answer somebody who has had all of it before their eyes. */
export function permissionLines({ run, shown, missing }: PermissionWait, call: string, named: string): readonly string[] {
  const whole = missing > 0 ? ' --whole' : '';
  return [`  ${call} approve ${shortId(run)}${named}${shownOption(shown)}${whole}`, denyLine(call, shortId(run), named)];
}

const denyLine = (call: string, run: string, named: string): string => `  ${call} deny ${run}${named} --note "why not"`;

const shownOption = (shown: string | undefined): string =>
  shown === undefined ? '' : ` --shown ${shown.slice(0, limits.shownCharacters)}`;

function statusOf(node: RunNode, end: RunEnd | undefined): RunSummary['status'] {
  if (end === undefined || end.kind === 'ended') return node.state;
  if (end.kind === 'waiting' || end.kind === 'paused' || end.kind === 'parked' || end.kind === 'lost') return end.kind;
  return end.kind === 'interrupted' ? 'interrupted' : unreachable(end);
}

export function statusText(summary: RunSummary, paint: Screen['paint']): string {
  switch (summary.status) {
    case 'completed':
      // Nobody looked is not the same as somebody looked and it was so: only one of them is green.
      return summary.verification?.state === 'verified' ? paint.green('completed, verified') : 'completed, unchecked';
    case 'completed_unverified':
      return paint.yellow('completed, unverified');
    case 'failed':
      return paint.red('failed');
    case 'budget_exhausted':
      return paint.red('budget exhausted');
    case 'waiting':
      return paint.yellow('needs input');
    default:
      return paint.yellow(summary.status);
  }
}

/** Why it is unverified, a few of the reasons; what the error says already is not said again. */
function reasonsOf({ verification, error }: RunSummary): readonly string[] {
  if (verification?.state !== 'unverified') return [];
  const reasons = verification.reasons.filter((reason) => reason !== error?.message);
  const left = reasons.length - REASONS_SHOWN;
  return left > 0 ? [...reasons.slice(0, REASONS_SHOWN), `and ${left} more reasons: troupe show --json`] : reasons;
}

function nextCommands(summary: RunSummary): readonly string[] {
  if (['interrupted', 'paused', 'parked', 'running'].includes(summary.status)) return ['resume', 'show'];
  return summary.status === 'lost' ? ['logs -f'] : ['show', 'why', 'logs'];
}
