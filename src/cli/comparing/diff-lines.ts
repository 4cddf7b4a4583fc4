/** Two runs side by side, as a person reads them: where they part first, how often, and what came of each. */
import { shortId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import type { RunsCompared } from '../../front/looking/compare-runs.ts';
import { apart, type Divergence } from '../../projections/comparing/compared.ts';
import { actResult, actText, DIVERGENCE_WORDS, sameText, TERM_WORDS } from '../../projections/comparing/words.ts';
import { withoutText } from '../../projections/lines/fork-lines.ts';
import { readableCost, readableCount, readableDuration, readableTokens } from '../../projections/readable.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth } from '../terminal/text-width.ts';
import { tableLines } from '../view/table.ts';

export interface DiffLook {
  readonly paint: Screen['paint'];
  readonly width: number;
  /** Every step, and not only the first that differs. */
  readonly all: boolean;
}

const MARK = 4;

export function diffLines(compared: RunsCompared, look: DiffLook): readonly string[] {
  const { a, b } = compared;
  const lines = [
    `${look.paint.red('A')}  ${nameOf(a)}`,
    `${look.paint.green('B')}  ${nameOf(b)}`,
    ...forkLines(compared),
    ...[a, b].flatMap((side, at) => (side.ended ? [] : [`${'AB'[at]} has not ended: it is compared as far as it is recorded.`])),
    '',
    ...termLines(compared, look),
    ...stepLines(compared, look),
    countLine(compared),
    ...(compared.byStep ? ['They differ by too much to be aligned: runs were compared step by step (comparedEdits).'] : []),
    '',
    ...outcomeLines(compared, look),
    ...fileLines(compared, look),
  ];
  return lines;
}

const nameOf = ({ run, agent }: RunsCompared['a']): string => `${shortId(run)}  ${safeLine(agent)}`;

function forkLines({ a, b }: RunsCompared): readonly string[] {
  const of = (name: string, other: string, { forked }: RunsCompared['a'], { run }: RunsCompared['a']): readonly string[] =>
    forked?.run === run
      ? [`${name} is a fork of ${other}, from behind event ${forked.event.split('.').at(-1)}${withoutText(forked)}.`]
      : [];
  return [...of('B', 'A', b, a), ...of('A', 'B', a, b)];
}

function termLines({ terms }: RunsCompared, look: DiffLook): readonly string[] {
  if (terms.length === 0) return [];
  return [
    ...terms.flatMap(({ what, path, a, b }) => [
      `${TERM_WORDS[what]}${path === '' ? '' : ` (${safeLine(path)})`}`,
      ...sides(a, b, look),
    ]),
    '',
  ];
}

function sides(a: string | null, b: string | null, { paint, width }: DiffLook): readonly string[] {
  const [one, other] = a === null || b === null ? [a, b] : apart(a, b);
  const side = (name: string, text: string | null): string =>
    `  ${name} ${cutToWidth(text === null ? 'nothing' : safeLine(text), width - MARK)}`;
  return [paint.red(side('A', one)), paint.green(side('B', other))];
}

function stepLines({ steps, first, left }: RunsCompared, look: DiffLook): readonly string[] {
  if (first === null) return [];
  if (look.all)
    return [
      ...steps.flatMap((step) => (step.kind === 'same' ? [look.paint.dim(sameText(step))] : differenceLines(step, look))),
      ...(left === 0 ? [] : [`… and ${counted(left, 'difference')} more (comparedSteps).`]),
      '',
    ];
  const before = steps.slice(0, steps.indexOf(first)).reduce((sum, step) => sum + (step.kind === 'same' ? step.count : 0), 0);
  const head =
    before === 0
      ? 'The first step is a difference already'
      : `The first difference, behind ${counted(before, 'step')} that ${before === 1 ? 'is' : 'are'} the same`;
  return [`${head}:`, ...differenceLines(first, look), ''];
}

function differenceLines({ kind, a, b, below }: Divergence, look: DiffLook): readonly string[] {
  const place = safeLine(a?.path === b?.path || b === null ? (a?.path ?? '') : a === null ? b.path : `${a.path} | ${b.path}`);
  const head = cutToWidth(`! ${place === '' ? '' : `${place}: `}${DIVERGENCE_WORDS[kind]}`, look.width);
  const more = below === 0 ? [] : [`  and ${counted(below, 'step')} in runs that it began`];
  const both = cutToWidth(`  ${safeLine(actText(a) ?? '')}`, look.width);
  if (kind === 'result') return [head, both, ...sides(actResult(a), actResult(b), look)];
  if (kind === 'answer') return [head, both, ...sides(a?.answer ?? null, b?.answer ?? null, look)];
  return [head, ...sides(actText(a), actText(b), look), ...more];
}

function countLine({ same, counts, terms }: RunsCompared): string {
  const { same: alike, moved, changed, answers, results, onlyA, onlyB } = counts;
  if (same) return `They are the same: ${counted(alike, 'step')}${moved === 0 ? '' : `, ${moved} in another order`}.`;
  const parts = [
    `${alike} the same${moved === 0 ? '' : ` (${moved} in another order)`}`,
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(answers === 0 ? [] : [`${answers} answered otherwise`]),
    ...(results === 0 ? [] : [`${results} with another result`]),
    ...(onlyA === 0 ? [] : [`${onlyA} only in A`]),
    ...(onlyB === 0 ? [] : [`${onlyB} only in B`]),
    ...(terms.length === 0 ? [] : [counted(terms.length, 'other term')]),
  ];
  return `Steps: ${parts.join(', ')}.`;
}

function outcomeLines(compared: RunsCompared, { width, paint }: DiffLook): readonly string[] {
  const { a, b, sameAnswer } = compared;
  const row = (name: string, text: (side: RunsCompared['a']) => string): readonly string[] => [name, text(a), text(b)];
  const taken = ({ cost }: RunsCompared['a']): string =>
    cost.takenOver === 0 ? '' : ` (${readableCost({ nanoUsd: cost.takenOver, unknownCalls: 0 })} of its source)`;
  const rows = [
    row('status', ({ status, error }) => `${status}${error === null ? '' : ` (${safeLine(error.code)})`}`),
    row('proof', ({ verification }) => verification ?? '-'),
    row('turns', ({ turns }) => String(turns)),
    row('tool calls', ({ toolCalls }) => String(toolCalls)),
    row('runs', ({ runs }) => String(runs)),
    row('tokens in', ({ tokens }) => (tokens.input === 0 ? readableTokens(0, tokens) : readableCount(tokens.input))),
    row('tokens out', ({ tokens }) => (tokens.output === 0 ? readableTokens(0, tokens) : readableCount(tokens.output))),
    row('cost', (side) => `${readableCost(side.cost)}${taken(side)}`),
    row('time', ({ durationMs }) => readableDuration(durationMs)),
  ];
  const [heading = '', ...lines] = tableLines(['', 'A', 'B'], rows, width);
  const said = sameAnswer ? 'They answer in the same words.' : 'They answer in other words.';
  return [paint.dim(heading.trimEnd()), ...lines.map((line) => line.trimEnd()), ...(sameAnswer === null ? [] : ['', said])];
}

const HOW = { different: 'otherwise', only_a: 'only in A', only_b: 'only in B', same: 'the same' } as const;
const FILES_SHOWN = 20;

function fileLines({ files }: RunsCompared, { width, all }: DiffLook): readonly string[] {
  const { same, different, onlyA, onlyB, changed } = files;
  if (same + different + onlyA + onlyB === 0) return [];
  const shown = all ? changed : changed.slice(0, FILES_SHOWN);
  const left = different + onlyA + onlyB - shown.length;
  return [
    `Changed files: ${[
      ...(same === 0 ? [] : [`${same} the same`]),
      ...(different === 0 ? [] : [`${different} otherwise`]),
      ...(onlyA === 0 ? [] : [`${onlyA} only in A`]),
      ...(onlyB === 0 ? [] : [`${onlyB} only in B`]),
    ].join(', ')}.`,
    ...shown.map(({ path, how }) => cutToWidth(`  ${HOW[how].padEnd(9)}  ${safeLine(path)}`, width)),
    ...(left === 0 ? [] : [`  … and ${left} more`]),
  ];
}
