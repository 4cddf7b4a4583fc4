/**
 * Where two values that should be the same differ first, in words for people and for programs. Fences around the words of
 * strangers are made of chance: they count as the same when they stand in the same places.
 */
import { canonicalJson, isJsonObject, type Json } from '../../base/json.ts';

/** One side is `undefined` where there is nothing. */
export interface ValueDifference {
  /** Keys and places down to it, such as `report.body`; empty for the whole. */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
}

export function firstDifference(recorded: Json | undefined, now: Json | undefined): ValueDifference | undefined {
  // Nearly always, and without making anything of it.
  if (isSame(recorded, now)) return undefined;
  const one = withoutFences(recorded);
  const other = withoutFences(now);
  return canonicalJson(one) === canonicalJson(other) ? undefined : differenceAt('', one, other);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name], other[name]));
}

function differenceAt(path: string, recorded: Json | undefined, now: Json | undefined): ValueDifference {
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  for (const [name, one, other] of parts(recorded, now))
    if (canonicalJson(one) !== canonicalJson(other)) return differenceAt(below(name), one, other);
  return { path, recorded, now };
}

/** What both have, by name; nothing where one of them is no list or no object like the other. */
function parts(one: Json | undefined, other: Json | undefined): [string, Json | undefined, Json | undefined][] {
  if (Array.isArray(one) && Array.isArray(other))
    return Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [String(at), one[at], other[at]]);
  if (!isJsonObject(one) || !isJsonObject(other)) return [];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return names.map((name) => [name, one[name], other[name]]);
}

const FENCE = /<[a-z][a-z-]*-([0-9a-z]{12})>/g;

/** Each fence by its number, in the order in which they come. */
function withoutFences(value: Json | undefined): Json | undefined {
  const text = canonicalJson(value);
  const fences = [...new Set([...(text ?? '').matchAll(FENCE)].map(([, fence = '']) => fence))];
  if (fences.length === 0) return value;
  const renamed = (item: Json | undefined): Json | undefined => {
    if (typeof item === 'string') return fences.reduce((said, fence, at) => said.replaceAll(fence, `fence${at}`), item);
    if (Array.isArray(item)) return item.map((one) => renamed(one) ?? null);
    if (!isJsonObject(item)) return item;
    return Object.fromEntries(Object.entries(item).map(([name, one]) => [name, renamed(one)]));
  };
  return renamed(value);
}
