/** What is left of a map when everything is taken out that its schema refuses, and no more than that. */
import type { z } from 'zod';
import type { Path } from '../text/yaml-map.ts';

export interface Unrefused<Value> {
  readonly value: Value;
  /** Outermost keys of which something was taken out: what they lack may have been meant to be there. */
  readonly partly: ReadonlySet<string>;
  /** Where in the whole map stands what is at this path of the rest: entries of lists move up. */
  readonly written: (path: Path) => Path;
}

/** `undefined` when the rest is refused too. */
export function withoutRefused<Schema extends z.ZodType>(map: object, schema: Schema): Unrefused<z.infer<Schema>> | undefined {
  const rest: Holder = structuredClone({ ...map });
  const partly = new Set<string>();
  const moved: Moved = new Map();
  const filled = new Set<string>();
  for (;;) {
    const parsed = schema.safeParse(rest, { reportInput: true });
    if (parsed.success) return { value: parsed.data, partly, written: (path) => writtenAt(rest, path, moved) };
    // Each round takes something out, or fills a place for the first time: there is an end.
    const steps = parsed.error.issues.flatMap((issue) => stepsFor(issue, rest, filled));
    if (steps.length === 0) return undefined;
    for (const { path, filling } of inOrderOfTaking(steps)) {
      partly.add(String(path[0]));
      if (filling === undefined) take(rest, path, moved);
      else {
        filled.add(keyOf(path));
        put(rest, path, filling);
      }
    }
  }
}

type Holder = Record<PropertyKey, unknown>;
/** Of lists that lost entries: where the others stood. */
type Moved = Map<unknown, number[]>;

interface Step {
  readonly path: Path;
  /** Without it what is there is taken out. */
  readonly filling?: unknown;
}

function stepsFor(issue: z.core.$ZodIssue, rest: Holder, filled: ReadonlySet<string>): readonly Step[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: [...path, key] }));
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((branch) => branch.every((inner) => inner.path.length > 0));
    if (meant !== undefined)
      return meant.flatMap((inner) => stepsFor({ ...inner, path: [...path, ...inner.path] }, rest, filled));
  }
  if (path.length === 0) return [];
  if (valueAt(rest, path) !== undefined) return [{ path }];
  // What is missing hides what stands beside it, unless something can stand for it that names nothing.
  const isFirst = !filled.has(keyOf(path));
  if (isFirst && issue.code === 'invalid_value') return [{ path, filling: issue.values[0] }];
  if (isFirst && issue.code === 'invalid_type' && issue.expected === 'array') return [{ path, filling: [] }];
  return path.length === 1 ? [] : [{ path: path.slice(0, -1) }];
}

/** The innermost first, and the last of a list: what is taken out moves nothing that is still to be. */
function inOrderOfTaking(steps: readonly Step[]): readonly Step[] {
  const once = new Map(steps.map((step) => [keyOf(step.path), step]));
  return [...once.values()].toSorted((left, right) => right.path.length - left.path.length || lastOf(right) - lastOf(left));
}

const lastOf = ({ path }: Step): number => {
  const last = path.at(-1);
  return typeof last === 'number' ? last : 0;
};

function take(rest: Holder, path: Path, moved: Moved): void {
  const holder = valueAt(rest, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(holder) && typeof last === 'number') {
    const places = moved.get(holder) ?? [...holder.keys()];
    places.splice(last, 1);
    holder.splice(last, 1);
    moved.set(holder, places);
  } else if (isHolder(holder) && last !== undefined) delete holder[last];
}

function put(rest: Holder, path: Path, value: unknown): void {
  const holder = valueAt(rest, path.slice(0, -1));
  const last = path.at(-1);
  if (isHolder(holder) && last !== undefined) holder[last] = value;
}

function valueAt(rest: unknown, path: Path): unknown {
  return path.reduce<unknown>((found, step) => (isHolder(found) && Object.hasOwn(found, step) ? found[step] : undefined), rest);
}

function writtenAt(rest: unknown, path: Path, moved: Moved): Path {
  let here = rest;
  return path.map((step) => {
    const at = typeof step === 'number' ? (moved.get(here)?.[step] ?? step) : step;
    here = valueAt(here, [step]);
    return at;
  });
}

const keyOf = (path: Path): string => JSON.stringify(path.map(String));
const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;
