/** A table within the width there is: columns that wrap, or, where even that is too narrow, one row below the other. */
import type { Tokens } from 'marked';
import { padToWidth, textWidth } from '../terminal/text-width.ts';
import { inlineStretches, type Paint } from './inline.ts';
import { type Stretch, wrapStretches } from './stretches.ts';

const GAP = 3;
const NARROWEST = 6;

type Row = readonly (readonly Stretch[])[];

export function tableOf(token: Tokens.Table, paint: Paint, width: number): readonly string[] {
  const cells = (row: readonly Tokens.TableCell[], look?: Stretch['look']): Row =>
    row.map((cell) => inlineStretches(cell.tokens, paint, look));
  const heading = cells(token.header, paint.bold);
  const rows = token.rows.map((row) => cells(row));
  const widths = columnWidths([heading, ...rows], width);
  if (widths === undefined) return recordLines(heading, rows, width);
  const drawn = (row: Row): readonly string[] => rowLines(row, widths, token.align, paint);
  const rule = paint.dim(widths.map((column) => '─'.repeat(column)).join('─┼─'));
  return [...drawn(heading), rule, ...rows.flatMap(drawn)];
}

/** As wide as their longest line, and where that is too much, the widest give way first. */
function columnWidths(rows: readonly Row[], width: number): readonly number[] | undefined {
  const wanted = (rows[0] ?? []).map((_, column) => Math.max(1, ...rows.map((row) => longest(row[column] ?? []))));
  const room = width - GAP * (wanted.length - 1);
  const narrowest = wanted.map((one) => Math.min(one, NARROWEST));
  if (sum(narrowest) > room) return undefined;
  let cap = Math.max(...wanted);
  while (sum(wanted.map((one) => Math.min(one, cap))) > room) cap -= 1;
  return wanted.map((one) => Math.min(one, cap));
}

function rowLines(row: Row, widths: readonly number[], align: Tokens.Table['align'], paint: Paint): readonly string[] {
  const wrapped = widths.map((width, column) => {
    const stretches = row[column] ?? [];
    return wrapStretches(stretches, width).map((line, index) =>
      aligned(line, plainLine(stretches, width, index), width, align[column]),
    );
  });
  const height = Math.max(1, ...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, column) => wrapped[column]?.[line] ?? ' '.repeat(width))
      .join(paint.dim(' │ '))
      .trimEnd(),
  );
}

/** The same line without colours, which have no width. */
function plainLine(stretches: readonly Stretch[], width: number, index: number): string {
  return wrapStretches([{ text: textOf(stretches), look: (text) => text }], width)[index] ?? '';
}

function aligned(painted: string, plain: string, width: number, align: 'left' | 'center' | 'right' | null | undefined): string {
  const free = Math.max(0, width - textWidth(plain));
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0;
  return `${' '.repeat(before)}${painted}${' '.repeat(free - before)}`;
}

function recordLines(heading: Row, rows: readonly Row[], width: number): readonly string[] {
  const names = heading.map(textOf);
  const widest = Math.min(Math.max(0, ...names.map(textWidth)), Math.floor(width / 3));
  return rows.flatMap((row, index) => {
    const lines = row.flatMap((cell, column) => {
      const name: Stretch = { text: `${padToWidth(names[column] ?? '', widest)}: `, look: (text) => text };
      return wrapStretches([name, ...cell], width);
    });
    return index === 0 ? lines : ['', ...lines];
  });
}

const textOf = (stretches: readonly Stretch[]): string => stretches.map(({ text }) => text).join('');
const longest = (stretches: readonly Stretch[]): number => Math.max(0, ...textOf(stretches).split('\n').map(textWidth));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
