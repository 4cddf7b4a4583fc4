/**
 * Processes as a table. Everything is in it where there is room; on a narrow terminal the least needed goes first: how long a
 * run took, then what to do next goes below its run, then threads, which share the end of their owner's id, and pids. Names are
 * cut last. States have short words wherever the whole ones have no room.
 */

import { shortId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import type { PsRow } from '../../front/run-rows.ts';
import { readableAge, readableDuration, readableMoney } from '../../projections/readable.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { cutToWidth, textWidth, wrapToWidth } from '../terminal/text-width.ts';
import { tableLines } from '../view/table.ts';

interface Look {
  readonly took: boolean;
  readonly thread: boolean;
  readonly pid: boolean;
  /** Columns for the name, without what it is indented by. */
  readonly name: number;
  /** Short words for states. */
  readonly brief: boolean;
  /** Nothing stands below a run: what has to be said stands in its line. */
  readonly alone?: boolean;
  /** Where the command stands that is to be called next. */
  readonly next: 'beside' | 'below';
}

const WHOLE: Look = { took: true, thread: true, pid: true, name: Number.MAX_SAFE_INTEGER, brief: false, next: 'beside' };
const BELOW: Look = { took: false, thread: true, pid: true, name: 40, brief: true, next: 'below' };
const NARROW: readonly Look[] = [
  { ...WHOLE, name: 40, took: false },
  BELOW,
  { ...BELOW, thread: false },
  { ...BELOW, thread: false, pid: false },
  ...[24, 20, 18, 16, 14, 12, 10].map((name) => ({ ...BELOW, thread: false, pid: false, name })),
];
/** Of each the whole words for states first, where there is room for them. */
const LOOKS: readonly Look[] = [
  WHOLE,
  { ...WHOLE, name: 40 },
  ...NARROW.flatMap((look) => [
    { ...look, brief: false },
    { ...look, brief: true },
  ]),
];

/** Of the assistants of a run that have ended, the newest so many have a line. */
const ENDED_SHOWN = 5;

type Line = { readonly kind: 'row'; readonly row: PsRow } | { readonly kind: 'left out'; readonly count: number };

/** Without a width nothing is cut: the reader is a program. */
export function psLines(rows: readonly PsRow[], all: boolean, width?: number, now = 0): readonly string[] {
  const lines = all ? rows.map((row): Line => ({ kind: 'row', row })) : withoutMost(rows);
  const drawn = (look: Look): readonly string[] =>
    draw(lines, rows, look, now).flatMap((text, index) => [text, ...below(lines[index - 1], look, now, width ?? 0)]);
  if (width === undefined) return draw(lines, rows, { ...WHOLE, alone: true }, now);
  const fits = (text: readonly string[]): boolean => text.every((line) => textWidth(line) <= width);
  // Short words are for a command that has room beside them then: without one they are for what is narrower.
  const looks = rows.some(({ next }) => next !== null) ? LOOKS : LOOKS.filter(({ brief, next }) => !brief || next === 'below');
  const chosen = looks.find((look) => fits(drawn(look)));
  if (chosen !== undefined) return drawn(chosen);
  return drawn(LOOKS.at(-1) ?? WHOLE).map((line) => cutToWidth(line, width));
}

const INDENT = '        ';
/** Of a long reason the beginning is enough: `troupe show` has all of it. */
const REASON_ROWS = 2;

/** Why a run failed, was cancelled or stands still, and where there is no room beside it what to do, have lines of their own. */
function below(line: Line | undefined, look: Look, now: number, width: number): readonly string[] {
  if (line?.kind !== 'row') return [];
  const { next } = line.row;
  const reason = reasonOf(line.row, now);
  return [
    ...(reason === undefined ? [] : cutToRows(wrapToWidth(safeLine(reason), width - INDENT.length), width - INDENT.length)),
    ...(next === null || look.next === 'beside' ? [] : wrapToWidth(`next: ${next}`, width - INDENT.length)),
  ].map((text) => `${INDENT}${text}`);
}

function cutToRows(rows: readonly string[], width: number): readonly string[] {
  if (rows.length <= REASON_ROWS) return rows;
  const last = rows.slice(REASON_ROWS - 1).join(' ');
  return [...rows.slice(0, REASON_ROWS - 1), cutToWidth(last, width)];
}

const reasonOf = (row: PsRow, now: number): string | undefined => outageOf(row, now) ?? row.error?.message;

function outageOf({ nextAttemptAt }: PsRow, now: number): string | undefined {
  if (nextAttemptAt === null) return undefined;
  return `waits for its provider, which is asked again in ${readableAge(Math.max(0, nextAttemptAt - now))}`;
}

/** Whoever works is shown; of those who have ended, a few. */
function withoutMost(rows: readonly PsRow[]): readonly Line[] {
  const lines: Line[] = [];
  const families = rows.reduce<PsRow[][]>((made, row) => {
    if (row.depth === 0) made.push([row]);
    else made.at(-1)?.push(row);
    return made;
  }, []);
  for (const family of families) {
    const ended = family.filter((row) => row.depth > 0 && row.endedAt !== null);
    const left = new Set(ended.slice(0, Math.max(0, ended.length - ENDED_SHOWN)));
    for (const row of family) if (!left.has(row)) lines.push({ kind: 'row', row });
    if (left.size > 0) lines.push({ kind: 'left out', count: left.size });
  }
  return lines;
}

interface Column {
  readonly title: string;
  cell(row: PsRow): string;
}

function draw(lines: readonly Line[], rows: readonly PsRow[], look: Look, now: number): readonly string[] {
  const columns = columnsOf(rows, look, now);
  const cells = lines.map((line) =>
    columns.map(({ title, cell }) => {
      if (line.kind === 'row') return cell(line.row);
      return title === 'AGENT' ? `  … ${counted(line.count, 'more run')}: --all` : '';
    }),
  );
  const titles = columns.map(({ title }) => title);
  return tableLines(titles, cells);
}

function columnsOf(rows: readonly PsRow[], look: Look, now: number): readonly Column[] {
  const talks = rows.some((row) => row.process !== null);
  return [
    { title: 'RUN', cell: ({ run }) => shortId(run) },
    ...(look.pid ? [{ title: 'PID', cell: ({ pid }: PsRow) => (pid === null ? '-' : String(pid)) }] : []),
    { title: 'AGENT', cell: ({ agent, depth }) => indented(cutToWidth(safeLine(agent), look.name), depth) },
    ...(talks && look.thread
      ? [{ title: 'THREAD', cell: ({ process }: PsRow) => (process === null ? '-' : shortId(process.thread)) }]
      : []),
    { title: 'STATUS', cell: (row) => statusOf(row, look, now) },
    ...(talks ? [{ title: 'UNREAD', cell: unreadOf }] : []),
    { title: 'AGE', cell: ({ ageMs }) => readableAge(ageMs) },
    ...(look.took ? [{ title: 'TOOK', cell: tookOf }] : []),
    { title: 'COST', cell: ({ cost }) => costCell(cost) },
    ...(look.next === 'beside' ? [{ title: 'NEXT', cell: ({ next }: PsRow) => next ?? '' }] : []),
  ];
}

const indented = (name: string, depth: number): string => (depth === 0 ? name : `${'  '.repeat(depth - 1)}└ ${name}`);

const SHORT_STATES: Readonly<Record<string, string>> = {
  completed_unverified: 'unverified',
  budget_exhausted: 'over budget',
};
/** What nobody has looked at is completed and no more than that: what it is worth would not say so by itself. */
const SHORT_WORTH: Readonly<Record<NonNullable<PsRow['verification']>, string>> = {
  verified: 'verified',
  unverified: 'unverified',
  unchecked: 'completed',
};

function statusOf(row: PsRow, { brief, alone = false }: Look, now: number): string {
  const { state, process, verification } = row;
  const outage = alone ? outageOf(row, now) : undefined;
  if (outage !== undefined) return `${state}, ${outage}`;
  if (state === 'running' && process?.status === 'starting') return 'starting';
  if (verification !== null) return brief ? SHORT_WORTH[verification] : `completed, ${verification}`;
  return (brief ? SHORT_STATES[state] : undefined) ?? state.replaceAll('_', ' ');
}

/** How many, and since when the oldest of them waits. */
function unreadOf({ unread, lagMs }: PsRow): string {
  if (unread === 0) return '-';
  return lagMs === null ? String(unread) : `${unread} (${readableAge(lagMs)})`;
}

const tookOf = ({ startedAt, endedAt }: PsRow): string => (endedAt === null ? '-' : readableDuration(endedAt - startedAt));

export function costCell(cost: PsRow['cost']): string {
  if (cost === null || (cost.nanoUsd === 0 && cost.unknownCalls > 0)) return '?';
  return `${readableMoney(cost.nanoUsd)}${cost.unknownCalls > 0 ? '+?' : ''}`;
}
