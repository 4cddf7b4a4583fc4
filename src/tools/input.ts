/**
 * Checks a tool's arguments against its JSON Schema, and says in the model's terms what is wrong. The arguments themselves
 * are never changed: no coercion, no defaults. A schema that cannot be compiled (a keyword we do not know, an outside
 * reference) accepts everything, because the server that wrote it checks again.
 */

import { z } from 'zod';
import type { Json, JsonObject } from '../base/json.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { schemaFrom } from '../base/schema/json-schema.ts';
import { counted } from '../base/wording.ts';

type Issue = z.core.$ZodIssue;

const compiled = new WeakMap<JsonObject, z.ZodType>();
const PROBLEMS_SHOWN = 8;

/** Lets a tool that was written with a zod schema be checked by that same schema. */
export function knowSchema(inputSchema: JsonObject, schema: z.ZodType): void {
  compiled.set(inputSchema, schema);
}

export function checkInput(inputSchema: JsonObject, input: Json): Result<Json, string> {
  try {
    const outcome = compile(inputSchema).safeParse(input);
    if (outcome.success) return ok(input);
    const problems = outcome.error.issues.filter(isBinding).map(describe);
    if (problems.length === 0) return ok(input);
    const shown = problems.slice(0, PROBLEMS_SHOWN);
    const more = problems.length > shown.length ? [`and ${counted(problems.length - shown.length, 'more problem')}`] : [];
    return fail(`The arguments do not fit the tool's schema: ${[...shown, ...more].join('; ')}.`);
  } catch {
    // Arguments nested deeper than the stack.
    return fail('The arguments are nested too deeply to be checked.');
  }
}

function compile(inputSchema: JsonObject): z.ZodType {
  const known = compiled.get(inputSchema);
  if (known !== undefined) return known;
  const schema = fromJsonSchema(inputSchema);
  compiled.set(inputSchema, schema);
  return schema;
}

function fromJsonSchema(inputSchema: JsonObject): z.ZodType {
  try {
    return schemaFrom(inputSchema);
  } catch {
    return z.unknown();
  }
}

/** In JSON Schema `format` is a remark, not a rule; only `pattern` binds. */
function isBinding(issue: Issue): boolean {
  if (issue.code === 'invalid_format') return issue.format === 'regex';
  if (issue.code === 'invalid_union') return issue.errors.every((branch) => branch.some(isBinding));
  return true;
}

function describe(issue: Issue): string {
  const where = issue.path.length === 0 ? 'the arguments' : `\`${pathText(issue.path)}\``;
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${where} may not have ${issue.keys.map((key) => `\`${key}\``).join(', ')}`;
    case 'invalid_type':
      return missing(issue)
        ? `${where} is required${issue.expected === 'nonoptional' ? '' : ` and must be ${article(issue.expected)}`}`
        : `${where} must be ${article(issue.expected)}`;
    case 'invalid_value':
      return `${where} must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_union': {
      const [near, ...others] = issue.errors.filter((branch) => !isOfOtherType(branch));
      if (near !== undefined && others.length === 0)
        return near
          .filter(isBinding)
          .map((inner) => describe({ ...inner, path: [...issue.path, ...inner.path] }))
          .join('; ');
      if (issue.errors.every(([first]) => first?.code === 'invalid_type' && missing(first))) return `${where} is required`;
      return `${where} fits none of the allowed forms (${unionText(issue)})`;
    }
    default:
      return `${where}: ${issue.message}`;
  }
}

/** A form for values of another type than this one has. */
const isOfOtherType = ([first]: readonly Issue[]): boolean => first?.code === 'invalid_type' && first.path.length === 0;

function unionText(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  const firsts = issue.errors.map((branch) => branch[0]).filter((first) => first !== undefined);
  return firsts.slice(0, 4).map(describe).join('; ') || issue.message;
}

function missing(issue: Issue): boolean {
  return issue.message.endsWith('received undefined');
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number';
  if (expected === 'null') return 'null';
  return `${/^[aeio]/.test(expected) ? 'an' : 'a'} ${expected}`;
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`;
  return text;
}
