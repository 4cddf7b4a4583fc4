/** What was done to a `package.json` that was there before. Dependencies and new scripts are fine, however it is formatted. */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';

/** Settings of test runners, and what decides which file a name leads to. */
const STEERS = new Set([
  'jest',
  'mocha',
  'ava',
  'vitest',
  'tap',
  'nyc',
  'c8',
  'babel',
  'imports',
  'config',
  'wireit',
  'lint-staged',
]);
/** What `npm init` writes. */
const PLACEHOLDER = /no test specified/;

export function packageDoubt(before: string, after: string): string | undefined {
  const [old, now] = [objectIn(before), objectIn(after)];
  if (old === undefined || now === undefined) return 'has scripts, and was changed in this work in a way that cannot be followed';
  const script = changedScript(objectOf(old['scripts']), objectOf(now['scripts']));
  if (script !== undefined) return `has scripts, and one was changed in this work: ${script}`;
  const key = [...STEERS].find((one) => JSON.stringify(old[one]) !== JSON.stringify(now[one]));
  return key === undefined ? undefined : `says how tests are run, and was changed in this work: ${key}`;
}

/** One that is gone or another; or one that now runs before or after an old one. */
function changedScript(old: JsonObject, now: JsonObject): string | undefined {
  const names = Object.keys(old).filter((name) => !PLACEHOLDER.test(String(old[name])));
  const changed = names.find((name) => old[name] !== now[name]);
  return (
    changed ??
    Object.keys(now).find((name) => !(name in old) && names.some((one) => name === `pre${one}` || name === `post${one}`))
  );
}

function objectIn(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

const objectOf = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
