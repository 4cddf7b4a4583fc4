/** What an executor wants to know from a person: a question of the run for each field of the form that it sends. */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ExecutorAnswer, ExecutorQuestion } from '../../executors/port.ts';
import { waitForAnswer } from '../hearing/waits.ts';
import { boundedText, type ExecutorRecorder } from './recorder.ts';

type Value = string | number | boolean | string[];

/** Declined where nobody says anything, or where what it asks for is no form of plain fields. */
export async function askedOf(
  recorder: ExecutorRecorder,
  step: string,
  { message, schema, signal }: ExecutorQuestion,
): Promise<ExecutorAnswer> {
  const fields = fieldsIn(schema);
  if (fields === undefined || fields.length > limits.executorQuestionFields) return { action: 'decline' };
  const hash = createHash('sha256')
    .update(JSON.stringify([message, schema]))
    .digest('hex');
  const key = `${step}/question/${hash.slice(0, limits.executorHashCharacters)}`;
  const content: Record<string, Value> = {};
  for (const [index, [name, field]] of fields.entries()) {
    const said = await answerTo(recorder, index === 0 ? key : `${key}/${index + 1}`, message, name, field);
    if (signal.aborted) return { action: 'cancel' };
    if (said === undefined) return { action: 'decline' };
    content[name] = inForm(said, field);
  }
  return { action: 'accept', content };
}

type Field = readonly [name: string, field: JsonObject];

function fieldsIn(schema: ExecutorQuestion['schema']): readonly Field[] | undefined {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!isJsonObject(properties)) return undefined;
  const all = Object.entries(properties);
  return all.length > 0 && all.every(([, field]) => isJsonObject(field)) ? (all as unknown as readonly Field[]) : undefined;
}

async function answerTo(
  { tree, node, use }: ExecutorRecorder,
  wait: string,
  message: string,
  name: string,
  field: JsonObject,
): Promise<string | undefined> {
  const about = [field['title'], field['description']].filter((text) => typeof text === 'string').join(': ');
  const what = boundedText(
    tree.redact,
    `${use.name} asks: ${message}\n${about === '' ? name : about}`,
    limits.peerQuestionCharacters,
  );
  const choices = choicesOf(field);
  const answer = await waitForAnswer(tree, node, wait, {
    kind: 'question',
    payload: { question: what, ...present({ choices }) },
  });
  if (answer.kind === 'text') return answer.text;
  return answer.kind === 'approved' ? 'yes' : undefined;
}

function choicesOf(field: JsonObject): string[] | undefined {
  if (field['type'] === 'boolean') return ['yes', 'no'];
  const given = field['enum'];
  const choices = Array.isArray(given) ? given.filter((one) => typeof one === 'string') : [];
  return choices.length === 0 ? undefined : choices;
}

function inForm(said: string, { type }: JsonObject): Value {
  if (type === 'boolean') return /^(?:y|yes|true|ok)\b/i.test(said.trim());
  if (type === 'number' || type === 'integer') return Number(said);
  return type === 'array' ? said.split(',').map((one) => one.trim()) : said;
}
