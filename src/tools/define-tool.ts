/**
 * Makes a `Tool` from a zod schema, which is the one source of the arguments' type, their check and the JSON Schema that
 * the model sees. Schemas are strict objects without defaults: what a tool assumes stands in its code and description.
 */
import { z } from 'zod';
import { assert } from '../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { knowSchema } from './input.ts';
import { errorResult, type Replay, type Tool, type ToolContext, type ToolOutcome } from './port.ts';

export interface ToolDraft<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly replay: Replay;
  readonly readOnly?: boolean;
  readonly kind?: 'question';
  readonly reportsChanges?: boolean;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

export function defineTool<Input>(draft: ToolDraft<Input>): Tool {
  const inputSchema = jsonSchemaOf(draft.input);
  knowSchema(inputSchema, draft.input);
  return {
    name: draft.name,
    description: draft.description,
    inputSchema,
    replay: draft.replay,
    ...(draft.readOnly === true ? { readOnly: true } : {}),
    ...(draft.kind === undefined ? {} : { kind: draft.kind }),
    ...(draft.reportsChanges === true ? { reportsChanges: true } : {}),
    run: async (input, context) => {
      const parsed = draft.input.safeParse(input);
      if (!parsed.success) return errorResult(`The arguments of \`${draft.name}\` do not fit its schema.`);
      return draft.run(parsed.data, context);
    },
  };
}

function jsonSchemaOf(schema: z.ZodType): JsonObject {
  // Through text, which drops what zod hangs on its result beside the schema.
  const parsed = parseJson(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));
  assert(parsed.ok && isJsonObject(parsed.value), 'a JSON Schema is an object');
  const { $schema: _dialect, ...rest } = parsed.value;
  return rest;
}
