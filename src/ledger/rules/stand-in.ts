/**
 * What is read in place of a payload that was forgotten: of the same type, with its numbers and its names, and without what was
 * said. So whoever folds the events of the session goes on doing so.
 */
import { isJsonObject, type Json } from '../../base/json.ts';
import { type EventType, payloadSchemas } from '../../events/catalogue.ts';
import { SEALED } from './read-events.ts';

export const FORGOTTEN_TEXT = '[forgotten]';

/** Texts under these keys name things of ours, if they look like names. */
const NAMES: ReadonlySet<string> = new Set(
  'id callId kind type role name agent tool run session model provider status state format step root parent'.split(' '),
);
const NAME = /^[\w.:@/-]{1,80}$/;
/** A schema may refuse what stands in for a text: then it was a name after all. */
const ROUNDS = 20;

/** `undefined`: nothing that fits the type could stand there. With `goes` only texts that it is said of. */
export function standInFor(type: EventType, payload: unknown, goes?: Goes): string | undefined {
  const original = withoutSeal(payload as Json);
  const kept = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const stand = blanked(original, [], { goes, kept });
    const checked = payloadSchemas[type].safeParse(stand);
    if (checked.success) return JSON.stringify(stand);
    const before = kept.size;
    for (const { path } of checked.error.issues) kept.add(JSON.stringify(path));
    if (kept.size === before) return undefined;
  }
  return undefined;
}

type Goes = (text: string) => boolean;

interface Blanking {
  readonly goes: Goes | undefined;
  readonly kept: ReadonlySet<string>;
}

function blanked(value: Json, path: readonly (string | number)[], how: Blanking): Json {
  if (typeof value === 'string') return isLeft(value, path, how) ? value : FORGOTTEN_TEXT;
  if (Array.isArray(value)) return value.map((one, index) => blanked(one, [...path, index], how));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one], index) => [
      how.goes?.(key) === true ? `${FORGOTTEN_TEXT} ${index}` : key,
      blanked(one ?? null, [...path, key], how),
    ]),
  );
}

function isLeft(text: string, path: readonly (string | number)[], { goes, kept }: Blanking): boolean {
  if (goes !== undefined) return !goes(text);
  if (kept.has(JSON.stringify(path))) return NAME.test(text);
  const key = path.at(-1);
  return typeof key === 'string' && NAMES.has(key) && NAME.test(text);
}

function withoutSeal(payload: Json): Json {
  if (!isJsonObject(payload)) return payload;
  const { [SEALED]: _sealed, ...rest } = payload;
  return rest;
}
