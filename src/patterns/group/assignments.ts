/**
 * From an orchestrator's words to tasks for workers. Three ways to write them are understood: a JSON array of
 * `{worker, task}`, bare or fenced; one-line `@worker:name task`; and blocks that may end with `@end`. Names may contain
 * spaces and stand in quotes or backticks. `@worker:` in a code block, in a quoted line or inside a sentence is no assignment.
 *
 * It never throws, and its work grows with the text: what it gives is bounded by the workers there are.
 */
import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { type Line, linesOf } from './fenced-lines.ts';
import { findWorker, splitName } from './worker-names.ts';

export interface Assignment {
  readonly worker: string;
  readonly task: string;
}

export interface Plan {
  /** At most one per worker, in the order in which the workers were first named. */
  readonly assignments: readonly Assignment[];
  /** Names that no worker has, or that several could have. */
  readonly unknown: readonly string[];
  /** Workers that were named without being told what to do. */
  readonly empty: readonly string[];
}

export function parseAssignments(text: string, workers: readonly string[]): Plan {
  const lines = linesOf(text);
  return resolve(fromJson(text, lines) ?? fromText(lines, workers), workers);
}

interface Raw {
  readonly name: string;
  readonly task: string;
}

const JSON_CANDIDATES = 20;

/** A JSON array that stands alone: the whole text, a code block, or lines of its own. What only looks like one is text. */
function fromJson(text: string, lines: readonly Line[]): Raw[] | undefined {
  // What comes behind a written-out assignment belongs to its task.
  const first = lines.findIndex((line) => !line.fenced && MARK.test(line.text));
  const before = first === -1 ? lines : lines.slice(0, first);
  for (const candidate of first === -1 ? [text, ...arraysIn(before)] : arraysIn(before)) {
    const parsed = parseJson(candidate.trim());
    const tasks = parsed.ok ? readArray(parsed.value) : undefined;
    if (tasks !== undefined) return tasks;
  }
  return undefined;
}

/** Runs of lines that begin with a bracket and end with one. */
function arraysIn(lines: readonly Line[]): string[] {
  const starts = lines.flatMap((line, index) => (/^\s*\[/.test(line.text) ? [index] : [])).slice(0, JSON_CANDIDATES);
  return starts.map((start) => {
    const block = lines[start]?.block;
    const end = lines.findLastIndex((line) => line.block === block && /\]\s*$/.test(line.text));
    const part = lines.slice(start, end + 1);
    return part.map((line) => line.text).join('\n');
  });
}

function readArray(value: Json): Raw[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const tasks = value.map((item: Json) => {
    if (!isJsonObject(item)) return undefined;
    const { worker, task } = item;
    return typeof worker === 'string' && typeof task === 'string' ? { name: worker, task: task.trim() } : undefined;
  });
  return tasks.every((task) => task !== undefined) ? tasks : undefined;
}

/** At the beginning of a line, also as a list item, a heading or in bold. */
const MARK = /^[ \t]*(?:(?:[-*+]|\d{1,3}[.)]|#{1,6})[ \t]+)?(?:\*\*|__)?@worker:[ \t]*(.*)$/i;
/** A word of its own, also in bold: whatever stands behind it is not part of the task. In code it is text. */
const END = /(?:^|[ \t])(?:\*\*|__)?@end(?:\*\*|__)?(?=$|[\s.,;:!)])/i;

function fromText(lines: readonly Line[], workers: readonly string[]): Raw[] {
  const tasks: { name: string; lines: string[] }[] = [];
  let current: { name: string; lines: string[] } | undefined;
  for (const line of lines.flatMap(oneMarkEach)) {
    const mark = line.fenced ? null : MARK.exec(line.text);
    if (mark !== null) {
      const { name, rest } = splitName(mark[1] ?? '', workers);
      current = { name, lines: rest === '' ? [] : [rest] };
      tasks.push(current);
    } else current?.lines.push(line.text);
    if (line.fenced || current === undefined) continue;
    const last = current.lines.at(-1) ?? '';
    const end = endOf(last);
    if (end === undefined) continue;
    current.lines[current.lines.length - 1] = last.slice(0, end);
    current = undefined;
  }
  return tasks.map(({ name, lines: body }) => ({ name, task: body.join('\n').trim() }));
}

/** Where the task ends in this line; inside backticks it does not. */
function endOf(line: string): number | undefined {
  const code = line.replaceAll(/`[^`]*`/g, (text) => '`'.repeat(text.length));
  const found = END.exec(code);
  return found === null ? undefined : found.index;
}

/** `@worker:a Do this. @end @worker:b Do that.` is two assignments on one line. */
function oneMarkEach(line: Line): Line[] {
  if (line.fenced || !MARK.test(line.text)) return [line];
  const first = line.text.search(/@worker:/i) + 1;
  const parts = line.text.slice(first).split(/[ \t](?=@worker:)|[ \t](?=@end[ \t]*$)|[ \t](?=@end[ \t]+@worker:)/i);
  return parts.map((text, index) => ({ ...line, text: index === 0 ? line.text.slice(0, first) + text : text }));
}

const UNKNOWN_MAX = 20;
const NAME_CHARACTERS = 100;

function resolve(tasks: readonly Raw[], workers: readonly string[]): Plan {
  const merged = new Map<string, string[]>();
  const unknown = new Set<string>();
  const named = new Set<string>();
  for (const { name, task } of tasks) {
    // Somebody who names so many that are not there is not guessed at any more.
    const worker = unknown.size < UNKNOWN_MAX ? findWorker(name.trim(), workers) : workers.find((one) => one === name.trim());
    if (worker !== undefined) named.add(worker);
    if (worker === undefined) {
      if (unknown.size < UNKNOWN_MAX) unknown.add(name.trim().slice(0, NAME_CHARACTERS) || '(no name)');
    } else if (task !== '') {
      const parts = merged.get(worker);
      if (parts === undefined) merged.set(worker, [task]);
      else parts.push(task);
    }
  }
  const assignments = [...merged].map(([worker, parts]) => ({ worker, task: parts.join('\n\n---\n\n') }));
  return { assignments, unknown: [...unknown], empty: [...named].filter((worker) => !merged.has(worker)) };
}
