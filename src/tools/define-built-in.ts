/**
 * Makes a built-in tool from a zod schema, which is the one source of the arguments' type, their check and the JSON Schema that
 * the model sees. Schemas are strict objects without defaults: what a tool assumes stands in its code and description.
 */
import { z } from 'zod';
import { assert } from '../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { knowSchema } from './input.ts';
import { errorResult, type OrdinaryTool, type Replay, type Tool, type ToolContext, type ToolOutcome } from './port.ts';

interface Draft<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
}

export interface BuiltInDraft<Input> extends Draft<Input> {
  readonly replay: Replay;
  readonly readOnly?: boolean;
  readonly reportsChanges?: boolean;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

export function defineBuiltIn<Input>(draft: BuiltInDraft<Input>): OrdinaryTool {
  return {
    ...described(draft),
    replay: draft.replay,
    ...(draft.readOnly === true ? { readOnly: true } : {}),
    ...(draft.reportsChanges === true ? { reportsChanges: true } : {}),
    run: async (input, context) => {
      const parsed = draft.input.safeParse(input);
      if (!parsed.success) return errorResult(`The arguments of \`${draft.name}\` do not fit its schema.`);
      return draft.run(parsed.data, context);
    },
  };
}

/** A tool that the runtime answers. */
export function defineAnsweredTool<Kind extends NonNullable<Tool['kind']>, Input>(kind: Kind, draft: Draft<Input>) {
  return { ...described(draft), replay: 'safe', kind } as const;
}

function described<Input>({ name, description, input }: Draft<Input>) {
  const inputSchema = jsonSchemaOf(input);
  knowSchema(inputSchema, input);
  return { name, description, inputSchema };
}

function jsonSchemaOf(schema: z.ZodType): JsonObject {
  // Through text, which drops what zod hangs on its result beside the schema.
  const parsed = parseJson(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));
  assert(parsed.ok && isJsonObject(parsed.value), 'a JSON Schema is an object');
  const { $schema: _dialect, ...rest } = parsed.value;
  return rest;
}
