/**
 * From an orchestrator's words to tasks for workers. Three ways to write them are understood: a JSON array of
 * `{worker, task}`, one-line `@worker:name task`, and blocks that may end with `@end`. Names may contain spaces and stand in
 * quotes or backticks; text in code fences and quoted lines is not an assignment unless the whole plan is one JSON array.
 */
import { isJsonObject, type Json, parseJson } from '../base/json.ts';

export interface Assignment {
  readonly worker: string;
  readonly task: string;
}

export interface Plan {
  /** At most one per worker, in the order in which the workers were first named. */
  readonly assignments: readonly Assignment[];
  /** Names that no worker has, or that several could have. */
  readonly unknown: readonly string[];
}

export function parseAssignments(text: string, workers: readonly string[]): Plan {
  const unified = text.replaceAll('\r\n', '\n');
  return resolve(fromJson(unified) ?? fromText(unified, workers), workers);
}

interface Raw {
  readonly name: string;
  readonly task: string;
}

/** A JSON array anywhere in the text, fenced or not. Something that only looks like one falls through to the text forms. */
function fromJson(text: string): Raw[] | undefined {
  const fenced = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  const start = text.indexOf('[');
  const bare = start === -1 ? [] : [text.slice(start, text.lastIndexOf(']') + 1)];
  for (const candidate of [text.trim(), ...fenced, ...bare]) {
    const parsed = parseJson(candidate);
    const tasks = parsed.ok ? readArray(parsed.value) : undefined;
    if (tasks !== undefined) return tasks;
  }
  return undefined;
}

function readArray(value: Json): Raw[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const tasks = value.map((item: Json) => {
    if (!isJsonObject(item)) return undefined;
    const { worker, task } = item;
    return typeof worker === 'string' && typeof task === 'string' && task.trim() !== ''
      ? { name: worker, task: task.trim() }
      : undefined;
  });
  return tasks.every((task) => task !== undefined) ? tasks : undefined;
}

const MARK = /^[ \t]*@worker:[ \t]*(.*)$/i;
const END = /^[ \t]*@end\b/i;

function fromText(text: string, workers: readonly string[]): Raw[] {
  const tasks: { name: string; lines: string[] }[] = [];
  let current: { name: string; lines: string[] } | undefined;
  let fence = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fence = !fence;
    const mark = fence && current === undefined ? null : MARK.exec(line);
    if (mark !== null) {
      const { name, rest } = splitName(mark[1] ?? '', workers);
      current = { name, lines: rest === '' ? [] : [rest] };
      tasks.push(current);
    } else if (END.test(line)) current = undefined;
    else current?.lines.push(line);
  }
  return tasks.map(({ name, lines }) => ({ name, task: lines.join('\n').trim() })).filter((task) => task.task !== '');
}

/** The longest known name that the line begins with; else what stands in quotes; else the first word. */
function splitName(line: string, workers: readonly string[]): { readonly name: string; readonly rest: string } {
  const quoted = /^["'`]([^"'`]+)["'`][:,]?\s*(.*)$/.exec(line);
  if (quoted !== null) return { name: quoted[1] ?? '', rest: quoted[2] ?? '' };
  const known = workers
    .filter((name) => normal(line).startsWith(normal(name)) && !/^[\p{L}\p{N}_-]/u.test(line.slice(name.length)))
    .sort((left, right) => right.length - left.length)[0];
  if (known !== undefined) return { name: known, rest: line.slice(known.length).replace(/^[:,]?\s*/, '') };
  const [first = '', ...rest] = line.split(/\s+/);
  return { name: first.replace(/[:,]$/, ''), rest: rest.join(' ') };
}

const normal = (name: string): string => name.normalize('NFC').toLowerCase();
const loose = (name: string): string => normal(name).replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Exact, then normalised, then the only one that contains it: never a guess between two. */
function find(name: string, workers: readonly string[]): string | undefined {
  const exact = workers.find((worker) => normal(worker) === normal(name));
  if (exact !== undefined) return exact;
  const same = workers.filter((worker) => loose(worker) === loose(name) && loose(name) !== '');
  if (same.length === 1) return same[0];
  const near = workers.filter((worker) => loose(name).length >= 3 && isWordsOf(name, worker));
  return near.length === 1 ? near[0] : undefined;
}

/** Whether one name is made of some of the other's words: `security` is near `Security Auditor`, `worker-1` not near `worker-10`. */
function isWordsOf(name: string, worker: string): boolean {
  const words = (text: string): string[] =>
    normal(text)
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);
  const mine = words(name);
  const theirs = words(worker);
  return mine.length > 0 && (mine.every((word) => theirs.includes(word)) || theirs.every((word) => mine.includes(word)));
}

function resolve(tasks: readonly Raw[], workers: readonly string[]): Plan {
  const merged = new Map<string, string[]>();
  const unknown = new Set<string>();
  for (const { name, task } of tasks) {
    const worker = find(name.trim(), workers);
    if (worker === undefined) unknown.add(name.trim());
    else merged.set(worker, [...(merged.get(worker) ?? []), task]);
  }
  const assignments = [...merged].map(([worker, parts]) => ({ worker, task: parts.join('\n\n---\n\n') }));
  return { assignments, unknown: [...unknown] };
}
