/**
 * What is wrong with agent files, and where. A diagnostic points at a place a person can open, says what is wrong there
 * and, where it can, what to write instead. Checks collect them, so that one run of `troupe check` shows every problem.
 */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';

/** Counted from one, as editors do; columns in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic extends Position {
  readonly file: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix?: string;
}

export interface SourcePlace extends Position {
  readonly file: string;
}

export const errorAt = (place: SourcePlace, message: string, fix?: string): Diagnostic =>
  diagnostic('error', place, message, fix);

export const warningAt = (place: SourcePlace, message: string, fix?: string): Diagnostic =>
  diagnostic('warning', place, message, fix);

function diagnostic(severity: Diagnostic['severity'], place: SourcePlace, message: string, fix: string | undefined): Diagnostic {
  const { file, line, column } = place;
  return { file, line, column, severity, message, ...present({ fix }) };
}

export const isError = (one: Diagnostic): boolean => one.severity === 'error';

/** `agents/a.md:3:1: error: unknown key "modle"`, and below it the fix. Safe to print: control characters are spelled out. */
export function formatDiagnostic(one: Diagnostic): string {
  const head = `${one.file}:${one.line}:${one.column}: ${one.severity}: ${one.message}`;
  return one.fix === undefined ? spellOut(head) : `${spellOut(head)}\n  fix: ${spellOut(one.fix)}`;
}

const QUOTED_MAX = 60;

/** A piece of somebody else's text inside a message: quoted, and cut when it is long. */
export function quote(text: string): string {
  const characters = Array.from(text.slice(0, QUOTED_MAX * 2));
  return characters.length <= QUOTED_MAX && text.length <= QUOTED_MAX * 2
    ? `"${text}"`
    : `"${characters.slice(0, QUOTED_MAX).join('')}…"`;
}

/** By file, then by place. What several agents have to say of a file that they share is said once. */
export function arrange(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const once = new Map(all.map((one) => [JSON.stringify([one.file, one.line, one.column, one.severity, one.message]), one]));
  const files = Map.groupBy(joined([...once.values()]), (one) => one.file);
  return [...files.keys()].sort().flatMap((file) => (files.get(file) ?? []).toSorted(byPlace));
}

/** A text that cannot be read, and what comes of it for whoever reads it: it is said once, with all that comes of it. */
const BROKEN = /^(broken [^;]*); (.*)$/;

function joined(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const same = Map.groupBy(all, ({ file, line, column, severity, message }) =>
    JSON.stringify([file, line, column, severity, BROKEN.exec(message)?.[1] ?? message]),
  );
  return [...same.values()].flatMap(([first, ...rest]) => {
    if (first === undefined || rest.length === 0) return first ?? [];
    const after = rest.map(({ message }) => BROKEN.exec(message)?.[2] ?? message);
    const fix = [first, ...rest].find((one) => one.fix !== undefined)?.fix;
    return { ...first, message: [first.message, ...after].join('; '), ...present({ fix }) };
  });
}

/** Arranged, and of a file with very many problems only the first, with a last line that says so. */
export function arrangeAndCut(all: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...Map.groupBy(arrange(all), (one) => one.file).values()].flatMap(cut);
}

function cut(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  const last = sorted[limits.diagnosticsPerFile];
  if (last === undefined) return sorted;
  const rest = sorted.slice(limits.diagnosticsPerFile);
  const message = `and ${rest.length} more problems in this file (limit diagnosticsPerFile is ${limits.diagnosticsPerFile})`;
  const place = { file: last.file, line: last.line, column: last.column };
  // An error among those left out must stay one: callers decide by severity whether the file may run.
  const note = rest.some(isError) ? errorAt : warningAt;
  return [...sorted.slice(0, limits.diagnosticsPerFile), note(place, message, 'Fix the ones above first.')];
}

function byPlace(left: Diagnostic, right: Diagnostic): number {
  return left.line - right.line || left.column - right.column;
}

/** Terminal escapes and text-direction marks in a stranger's file must not act on the terminal that shows the problem. */
export function spellOut(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
