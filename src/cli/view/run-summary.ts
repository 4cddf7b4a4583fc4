/** What is said about a run at its end or later: one object for programs, a few lines for people. */

import { stripVTControlCharacters } from 'node:util';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { OpenWait, PermissionWait } from '../../engine/port.ts';
import { afterFailure, onOtherModel } from '../../front/after-failure.ts';
import { isDoneAgain } from '../../front/failed-below.ts';
import type { RunSummary } from '../../front/summary.ts';
import { withoutText } from '../../projections/lines/fork-lines.ts';
import { readableCost, readableCount, readableDuration, readableTokens } from '../../projections/readable.ts';
import { asCalled, requestAsCalled } from '../terminal/command.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { proseLines, textWidth } from '../terminal/text-width.ts';

const REASONS_SHOWN = 5;

export interface SummaryLook {
  readonly paint: Screen['paint'];
  /** Without one nothing is broken: the reader is a program. */
  readonly width?: number | undefined;
  /** How the command line is called here: commands that are shown can be copied. */
  readonly call: string;
  /** What need not be named: it is what prints this. */
  readonly here?: 'show';
  /** Its session came from elsewhere, and does not go on here. */
  readonly from?: 'bundle' | 'transcript' | undefined;
}

export function summaryLines(summary: RunSummary, look: SummaryLook): readonly string[] {
  const { paint, call, width = Number.MAX_SAFE_INTEGER } = look;
  const said = (label: string, text: string): readonly string[] => labelled(label, text, width);
  const facts = [
    counted(summary.turns, 'turn'),
    tokensText(summary),
    readableCost(summary.cost),
    readableDuration(summary.durationMs),
  ];
  const lines = [...factLines([statusText(summary, paint), ...facts], paint, width), ...troubleLines(summary, look)];
  if (summary.finalAgent !== null && summary.finalAgent !== summary.agent)
    lines.push(...said(paint.dim('answer'), `from ${safeLine(summary.finalAgent)}`));
  if (summary.forked !== undefined)
    lines.push(
      ...said(paint.dim('fork'), `of ${summary.forked.run}, behind ${summary.forked.event}${withoutText(summary.forked)}`),
    );
  lines.push(...said(paint.dim('run'), summary.run), ...said(paint.dim('ledger'), summary.ledger));
  const next = nextCommands(summary, look.from).filter((command) => look.here === undefined || !command.startsWith(look.here));
  for (const [index, command] of next.entries()) lines.push(...said(index === 0 ? paint.dim('next') : '', `${call} ${command}`));
  return lines;
}

function tokensText({ turns, modelCalls, tokens }: RunSummary): string {
  const { input, output } = tokens;
  if (turns > 0 && modelCalls === 0) return 'no answer';
  // A model that has answered has read something: what it did not report is not nothing.
  if (turns > 0 && input + output === 0) return 'tokens not reported';
  const all = readableTokens(input + output, tokens);
  // That something is missing is said once.
  const part = (count: number): string => (count === 0 ? readableTokens(count, tokens) : readableCount(count));
  return `${all} tokens (${part(input)} in, ${part(output)} out)`;
}

/** What went wrong, why, and what is to be done about it. */
export function troubleLines(summary: RunSummary, { paint, call, width }: SummaryLook): readonly string[] {
  const said = (label: string, text: string): readonly string[] => labelled(label, text, width);
  const lines: string[] = [];
  if (summary.error !== null) {
    lines.push(...said(paint.red('why'), safeLine(asCalled(summary.error.message, call))));
    if (summary.error.fix !== undefined) lines.push(...said(paint.dim('fix'), safeLine(asCalled(summary.error.fix, call))));
  }
  if (summary.cutBy !== null) {
    const ends =
      summary.cutBy === 'peerArtifacts'
        ? 'some of what was made is missing: it is more than is kept of one answer'
        : 'the answer ends where the limit of one answer was reached';
    lines.push(...said(paint.yellow('cut'), `${ends} (${summary.cutBy})`));
  }
  for (const reason of reasonsOf(summary, call)) lines.push(...said(paint.yellow('why'), safeLine(asCalled(reason, call))));
  lines.push(...missingLines(summary, said, { paint, call }));
  if (summary.callsGone > 0) {
    const [were, their] = summary.callsGone === 1 ? ['was', 'its'] : ['were', 'their'];
    const what = `${counted(summary.callsGone, 'call')} ${were} not made: ${their} exact arguments are gone`;
    const secret = `they held a secret, and the key that sealed them is not here: see \`${call} doctor\``;
    lines.push(...said(paint.yellow('gone'), what), ...said(paint.dim('fix'), secret));
  }
  for (const text of summary.unread) lines.push(...said(paint.yellow('unread'), safeLine(text)));
  return lines;
}

/** The answer is there, and something in it is not: that is said beside it. */
function missingLines(
  { failedBelow: failed, run }: RunSummary,
  said: (label: string, text: string) => readonly string[],
  { paint, call }: Pick<SummaryLook, 'paint' | 'call'>,
): readonly string[] {
  const left = failed.length - REASONS_SHOWN;
  const more = left > 0 ? said('', `and ${left} more that failed: ${call} show ${shortId(run)} --json`) : [];
  const each = failed.slice(0, REASONS_SHOWN).flatMap((one) => {
    const { run: of, error } = one;
    const why = error === null ? '' : `: ${safeLine(error.message)}`;
    if (!isDoneAgain(one)) return said(paint.yellow('why'), `nobody could be chosen, and somebody else answered${why}`);
    const again = `the answer was given without it; do its work again: ${call} retry ${shortId(of)}`;
    return [...said(paint.yellow('missing'), `${failedName(one)} failed${why}`), ...said(paint.dim('fix'), again)];
  });
  return [...each, ...more];
}

/** In whose place it stood is said where it is not clear from its name. */
export const failedName = ({ agent, role }: RunSummary['failedBelow'][number]): string =>
  role === null ? safeLine(agent) : `${safeLine(agent)} (${safeLine(role)})`;

const LABEL_COLUMNS = 8;

/** A label, and beside it what it is about, in as many lines as that takes. */
function labelled(label: string, text: string, width: number | undefined): readonly string[] {
  const head = label + ' '.repeat(Math.max(1, LABEL_COLUMNS - stripVTControlCharacters(label).length));
  return proseLines(text, width, { head, indent: LABEL_COLUMNS });
}

/** Facts beside each other, a new line before one that has no room. */
export function factLines(facts: readonly string[], paint: Screen['paint'], width: number): readonly string[] {
  const lines: string[][] = [];
  let used = 0;
  for (const fact of facts) {
    const wide = textWidth(stripVTControlCharacters(fact));
    const line = lines.at(-1);
    if (line === undefined || used + 3 + wide > width) {
      lines.push([fact]);
      used = wide + (lines.length > 1 ? 2 : 0);
    } else {
      line.push(fact);
      used += 3 + wide;
    }
  }
  return lines.map((line, index) => `${index === 0 ? '' : '  '}${line.join(paint.dim(' · '))}`);
}

/** Workers may be the same agent under names of their own. */
export const askerOf = ({ agent, member }: OpenWait): string =>
  member === undefined ? safeLine(agent) : `${safeLine(member)} (${safeLine(agent)})`;

/** How to answer, exactly: a line for each open question. `open` is all that is open, where not all of it is shown. */
export function waitLines(waits: readonly OpenWait[], call: string, open: readonly OpenWait[] = waits): readonly string[] {
  return waits.flatMap((wait) => {
    const run = shortId(wait.run);
    const named = open.filter((other) => other.run === wait.run).length > 1 ? ` --wait ${wait.wait}` : '';
    // A permission is asked for in a sentence of our own, which names the agent.
    if (wait.kind === 'permission') {
      const question = safeText(requestAsCalled(wait.question, call)).split('\n');
      // What is not all here is looked at first.
      if (wait.missing > 0) return [...question, `  ${call} show ${run} --request`, denyLine(call, run, named)];
      return [...question, ...permissionLines(wait, call, named)];
    }
    const asked = `${askerOf(wait)} asks: ${safeLine(wait.question)}`;
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
    default:
      return paint.yellow(summary.status);
  }
}

/** Why it is not verified, a few of the reasons; what the error says already is not said again. */
function reasonsOf({ verification, error, run }: RunSummary, call: string): readonly string[] {
  if (verification === null || verification.state === 'verified') return [];
  const reasons = (verification.reasons ?? []).filter((reason) => reason !== error?.message);
  const left = reasons.length - REASONS_SHOWN;
  return left > 0
    ? [...reasons.slice(0, REASONS_SHOWN), `and ${left} more reasons: ${call} show ${shortId(run)} --json`]
    : reasons;
}

function nextCommands({ status, run, error, toApply }: RunSummary, from: SummaryLook['from']): readonly string[] {
  const id = shortId(run);
  if (from !== undefined) return [...(from === 'bundle' ? [`fork ${id}`] : []), `show ${id}`, `why ${id}`, `logs ${id}`];
  if (status === 'parked') return [`resume ${id}`, ...onOtherModel(id, error), `show ${id}`];
  if (status === 'interrupted' || status === 'paused') return [`resume ${id}`, `show ${id}`];
  // Somebody works on it: it is looked at, not taken up.
  if (status === 'running') return [`attach ${id}`, `logs -f ${id}`];
  if (status === 'lost') return [`logs -f ${id}`];
  const further = status === 'failed' || status === 'budget_exhausted' ? afterFailure(id, status, error) : undefined;
  return [
    ...new Set([
      ...(further === undefined ? [] : [further, ...onOtherModel(id, error)]),
      ...(toApply === undefined ? [] : [`apply ${id} --dry-run`]),
      `show ${id}`,
      `why ${id}`,
      `logs ${id}`,
    ]),
  ];
}
