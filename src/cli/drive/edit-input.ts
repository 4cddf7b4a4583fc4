/** What a call would be made with, to be changed by a person: the text that matters, or all of it as JSON. */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { Desk } from './desk.ts';

/** Of the arguments of built-in tools, the one that is worth changing. */
const TEXTS = ['command', 'content', 'new', 'url'] as const;

/** `undefined` when they would rather not. What cannot be read is put to them again. */
export async function editInput(desk: Desk, input: Json): Promise<Json | undefined> {
  const object: JsonObject = isJsonObject(input) ? input : {};
  const name = TEXTS.find((one) => typeof object[one] === 'string');
  const text = name === undefined ? undefined : object[name];
  if (name === undefined || typeof text !== 'string') return await editJson(desk, JSON.stringify(input));
  if (!/[\n\r\t\\]/.test(text)) {
    const typed = await desk.ask(`  ${name}: `, text);
    return typed === undefined ? undefined : { ...object, [name]: typed };
  }
  // One line has to hold them all.
  const typed = await editJson(desk, JSON.stringify(text), `  ${name}, as JSON: `);
  return typed === undefined ? undefined : { ...object, [name]: typed };
}

async function editJson(desk: Desk, text: string, prompt = '  as JSON: '): Promise<Json | undefined> {
  for (let current = text; ; ) {
    const typed = await desk.ask(prompt, current);
    if (typed === undefined) return undefined;
    const parsed = parseJson(typed);
    if (parsed.ok) return parsed.value;
    desk.say('  that is not JSON');
    current = typed;
  }
}
