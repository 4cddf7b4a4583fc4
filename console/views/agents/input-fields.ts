/** From the input schema of an agent to fields, and from those to its input. What no field fits is asked for as JSON. */
import { fail, ok, type Result } from '../../../src/base/result.ts';

export type FieldKind = 'line' | 'text' | 'number' | 'yes-no' | 'choice' | 'list' | 'json';

export interface InputField {
  readonly name: string;
  readonly title: string;
  readonly kind: FieldKind;
  readonly choices: readonly string[];
  readonly needed: boolean;
  readonly whole: boolean;
}

export type Filled = Readonly<Record<string, string>>;

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `undefined`: there is no schema, so the input is a prompt. */
export function fieldsOf(schema: unknown): readonly InputField[] | undefined {
  if (!isSchema(schema)) return undefined;
  const { properties, required } = schema;
  if (!isSchema(properties)) return [{ ...field('', schema, true), kind: 'json' }];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, one]) => field(name, isSchema(one) ? one : {}, needed.includes(name)));
}

const LINE_CHARACTERS = 200;

function field(name: string, schema: Schema, needed: boolean): InputField {
  const { title, description } = schema;
  const said = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  const choices = Array.isArray(schema['enum']) ? schema['enum'].filter((one) => typeof one === 'string') : [];
  const kind = choices.length > 0 ? 'choice' : kindOf(schema);
  return { name, title: said === '' ? name : `${name}: ${said}`, kind, choices, needed, whole: schema['type'] === 'integer' };
}

function kindOf({ type, maxLength, items }: Schema): FieldKind {
  if (type === 'string') return typeof maxLength === 'number' && maxLength <= LINE_CHARACTERS ? 'line' : 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'yes-no';
  return type === 'array' && isSchema(items) && items['type'] === 'string' ? 'list' : 'json';
}

/** The text that the run begins with: what was filled in, as JSON. The server holds it to the schema. */
export function promptOf(fields: readonly InputField[], filled: Filled): Result<string, string> {
  const values: Record<string, unknown> = {};
  for (const one of fields) {
    const text = filled[one.name] ?? '';
    if (text.trim() === '' && one.kind !== 'yes-no') {
      if (one.needed) return one.name === '' ? ok('') : fail(`${one.name} is needed.`);
      continue;
    }
    const value = readField(one, text);
    if (!value.ok) return value;
    values[one.name] = value.value;
  }
  const [only] = fields;
  return ok(JSON.stringify(only?.name === '' ? values[''] : values));
}

function readField({ name, kind, whole }: InputField, text: string): Result<unknown, string> {
  switch (kind) {
    case 'number': {
      const number = Number(text);
      if (Number.isNaN(number) || (whole && !Number.isInteger(number)))
        return fail(`${name} is ${whole ? 'a whole number' : 'a number'}.`);
      return ok(number);
    }
    case 'yes-no':
      return ok(text === 'yes');
    case 'list':
      return ok(text.split('\n').filter((line) => line.trim() !== ''));
    case 'json':
      try {
        return ok(JSON.parse(text) as unknown);
      } catch {
        return fail(`${name === '' ? 'The input' : name} is JSON: quotes around texts and names, no comma at the end.`);
      }
    default:
      return ok(text);
  }
}
