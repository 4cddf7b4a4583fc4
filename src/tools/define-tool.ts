/**
 * Makes a tool of a program from a schema, which is the one source of the arguments' type, their check and the JSON Schema that
 * the model sees. The schema is known by the standard that zod implements and not by zod's own types, which differ from one minor
 * version to the next: a program need not have the zod that Troupe has.
 */

import { type ChecksOf, isFlag, isFunction, isOneOf, isText, isTimeLimit, requireGiven } from '../base/check-given.ts';
import { messageOf, TroupeError } from '../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { present } from '../base/present.ts';
import { errorResult, type OrdinaryTool, type Replay, type ToolContext, type ToolOutcome, textResult } from './port.ts';

const PROBLEMS_SHOWN = 8;

/** What a zod object is, and every other schema that keeps to Standard Schema and can say its JSON Schema. */
export interface InputSchema<Input> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Checked<Input> | Promise<Checked<Input>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: string }) => Readonly<Record<string, unknown>> };
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
  };
}

type Checked<Input> = { readonly value: Input; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a program says about a tool of its own. */
export interface ToolDraft<Input> {
  /** Letters, digits, `_` and `-`: what every provider takes. Agents name it in `tools`, settings in `permissions`. */
  readonly name: string;
  /** What the model reads to know when to call it, and with what. */
  readonly description: string;
  /** The arguments: a zod object. */
  readonly input: InputSchema<Input>;
  /** It changes nothing: its calls run beside others of the same turn. */
  readonly readOnly?: boolean | undefined;
  /**
   * What happens to a call that was under way when the process died. `safe`: it is made again. `never`: it is not, and the model
   * is told that the outcome is unknown. Without it, `safe` for a tool that changes nothing and `never` for every other.
   */
  readonly replay?: Replay | undefined;
  /** Overrides the agent's `toolTimeout`. */
  readonly timeoutMs?: number | undefined;
  /** Does the work. A text is a good result; `errorResult` tells the model what went wrong, and so does what is thrown. */
  run(input: Input, context: ToolContext): ToolOutcome | string | Promise<ToolOutcome | string>;
}

const CHECKS: ChecksOf<ToolDraft<unknown>> = {
  name: isText,
  description: isText,
  // Whether it can be shown to a model is found out by asking it.
  input: () => undefined,
  readOnly: isFlag,
  replay: isOneOf('safe', 'never'),
  timeoutMs: isTimeLimit,
  run: isFunction,
};

/** The tools that the runtime itself offers beside those of an agent. */
const RESERVED: ReadonlySet<string> = new Set([
  'final_report',
  'ask_clarification',
  'dismiss_agent',
  'handoff-to',
  'team_broadcast',
  'clarify',
  'delegate',
  'judge',
]);

/** Makes a tool for the `tools` of `createTroupe`. Throws a `TroupeError` when models could not be offered it. */
export function defineTool<Input>(draft: ToolDraft<Input>): OrdinaryTool {
  requireGiven('defineTool', draft, CHECKS, { needed: ['name', 'description', 'input', 'run'], code: 'invalid_tool' });
  const { name, description, input: schema, readOnly = false, replay = readOnly ? 'safe' : 'never', timeoutMs } = draft;
  if (RESERVED.has(name)) {
    const fix = 'Give it another name: this one is the runtime’s own.';
    throw new TroupeError('invalid_tool', `A tool cannot be named ${name}.`, { fix });
  }
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    const fix = 'Use up to 64 letters, digits, _ and -: other characters are not taken by every provider.';
    throw new TroupeError('invalid_tool', `A tool cannot be named ${JSON.stringify(name)}.`, { fix });
  }
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(name, schema),
    replay,
    ...(readOnly ? { readOnly } : {}),
    ...present({ timeoutMs }),
    run: async (input, context) => {
      const checked = await schema['~standard'].validate(input);
      if (checked.issues !== undefined) return errorResult(unfit(checked.issues));
      return outcomeOf(await draft.run(checked.value, context));
    },
  };
}

/**
 * A program without types may return anything. What is done is done: told that its call had failed, a model would make it again.
 */
function outcomeOf(given: unknown): ToolOutcome {
  if (typeof given === 'string') return textResult(given);
  if (isOutcome(given)) return given;
  return textResult(JSON.stringify(given) ?? 'It was done, and gave nothing back.');
}

function isOutcome(given: unknown): given is ToolOutcome {
  if (typeof given !== 'object' || given === null || !('kind' in given)) return false;
  if (given.kind === 'error') return 'message' in given && typeof given.message === 'string';
  return given.kind === 'ok' && 'content' in given && Array.isArray(given.content);
}

function jsonSchemaOf<Input>(name: string, schema: InputSchema<Input>): JsonObject {
  const said = saidBy(name, schema);
  // Through text, which drops what hangs on the schema beside it.
  const parsed = parseJson(JSON.stringify(said));
  if (parsed.ok && isJsonObject(parsed.value) && parsed.value['type'] === 'object') {
    const { $schema: _dialect, ...rest } = parsed.value;
    return rest;
  }
  throw new TroupeError('invalid_tool', `The input of the tool ${name} is not an object.`, {
    fix: 'Give it z.object({ … }): arguments have names.',
  });
}

function saidBy<Input>(name: string, schema: InputSchema<Input>): unknown {
  if (!saysJsonSchema(schema))
    throw new TroupeError('invalid_tool', `The input of the tool ${name} is no schema that can say its JSON Schema.`, {
      fix: "Use z.object of zod 4.2 or newer: zod 3, 'zod/mini' and plain JSON Schema will not do.",
    });
  try {
    return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  } catch (error) {
    throw new TroupeError('invalid_tool', `The input of the tool ${name} cannot be shown to a model: ${messageOf(error)}`, {
      fix: 'Use zod 4.2 or newer, and in it only what JSON Schema can say.',
    });
  }
}

/** Of zod 3 and of `zod/mini` there is the first half of the standard, but not this one. */
function saysJsonSchema(schema: unknown): boolean {
  const standard: unknown = isHolder(schema) ? Reflect.get(schema, '~standard') : undefined;
  const says: unknown = isHolder(standard) ? Reflect.get(standard, 'jsonSchema') : undefined;
  return isHolder(says) && typeof Reflect.get(says, 'input') === 'function';
}

const isHolder = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

function unfit(issues: readonly Issue[]): string {
  const shown = issues.slice(0, PROBLEMS_SHOWN).map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
  });
  return `The arguments do not fit the tool's schema: ${shown.join('; ')}.`;
}
