/** Whether what a command printed with `--json` is what docs/json.md promises, with no field besides. */
import { expect } from 'vitest';
import { parseJson } from '../../src/base/json.ts';
import { type JsonCommand, jsonContract, jsonError } from '../../src/cli/json/contract.ts';

const isCommand = (name: string): name is JsonCommand => Object.hasOwn(jsonContract, name);

/** The command that these words call; `undefined` when they call none. */
export function commandIn(args: readonly string[]): JsonCommand | undefined {
  const [first = '', second = ''] = args[0] === '-C' ? args.slice(2) : args;
  return [`${first} ${second}`, first, `${first} list`].find(isCommand);
}

/** Does nothing for a command that was not asked for JSON, or whose output nobody could get because it was killed. */
export function keepsContract(args: readonly string[], out: string): void {
  const words = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (!words.includes('--json') || words.includes('--jsonl') || words.includes('--help')) return;
  const called = `troupe ${args.join(' ')}`;
  const printed = parseJson(out);
  if (!printed.ok) throw new Error(`${called} printed something else than one JSON value: ${out}`);
  const failed = jsonError.safeParse(printed.value);
  if (failed.success && Object.keys(printed.value as object).length === 1) {
    expect({ called, value: failed.data }).toEqual({ called, value: printed.value });
    return;
  }
  const command = commandIn(args);
  if (command === undefined) throw new Error(`${called} has no schema`);
  const parsed = jsonContract[command].safeParse(printed.value);
  if (!parsed.success) throw new Error(`${called} does not keep its contract: ${parsed.error.message}\n${out}`);
  // A schema drops what it does not know: nothing may be missing from what it gives back.
  expect({ called, value: parsed.data }).toEqual({ called, value: printed.value });
}
