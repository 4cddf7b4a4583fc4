/**
 * What a call would be made with, to be changed by a person: the text that matters, or all of it as JSON. In the editor that they
 * have named, else in the line where they type.
 */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Desk } from './desk.ts';

/** Of the arguments of built-in tools, the one that is worth changing, and what its file is called. */
const TEXTS = { command: 'command.sh', content: 'content.txt', new: 'new.txt', url: 'url.txt' } as const;

/** `undefined` when they would rather not; a failure says why nothing has come of it. */
export async function editInput(desk: Desk, input: Json): Promise<Result<Json, string> | undefined> {
  const object: JsonObject = isJsonObject(input) ? input : {};
  const [name, file] = Object.entries(TEXTS).find(([one]) => typeof object[one] === 'string') ?? [];
  const text = name === undefined ? undefined : object[name];
  if (name === undefined || file === undefined || typeof text !== 'string') return await editJson(desk, input);
  const withEditor = await desk.edit({ name: file, text });
  if (withEditor === 'left') return undefined;
  if (withEditor !== undefined) return withEditor.ok ? ok({ ...object, [name]: withEditor.value }) : withEditor;
  // One line has to hold them all.
  const isOneLine = !/[\n\r\t\\]/.test(text);
  const typed = isOneLine ? await desk.ask(`  ${name}: `, { prefill: text }) : await typeJson(desk, text, `  ${name}, as JSON: `);
  if (typed === undefined) return undefined;
  return typed === text ? UNCHANGED : ok({ ...object, [name]: typed });
}

const UNCHANGED = fail('nothing was changed');

async function editJson(desk: Desk, input: Json): Promise<Result<Json, string> | undefined> {
  const withEditor = await desk.edit({ name: 'arguments.json', text: `${JSON.stringify(input, null, 2)}\n` });
  if (withEditor === 'left') return undefined;
  if (withEditor !== undefined) {
    if (!withEditor.ok) return withEditor;
    const parsed = parseJson(withEditor.value);
    return parsed.ok ? changedFrom(input, parsed.value) : fail('the file is not JSON');
  }
  const typed = await typeJson(desk, input, '  as JSON: ');
  return typed === undefined ? undefined : changedFrom(input, typed);
}

const changedFrom = (input: Json, changed: Json): Result<Json, string> =>
  JSON.stringify(changed) === JSON.stringify(input) ? UNCHANGED : ok(changed);

/** What cannot be read is put to them again. */
async function typeJson(desk: Desk, value: Json, prompt: string): Promise<Json | undefined> {
  for (let current = JSON.stringify(value); ; ) {
    const typed = await desk.ask(prompt, { prefill: current });
    if (typed === undefined) return undefined;
    const parsed = parseJson(typed);
    if (parsed.ok) return parsed.value;
    desk.say('  that is not JSON');
    current = typed;
  }
}
