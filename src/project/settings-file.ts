/** YAML text against a strict schema: a value, or every problem at once with line, column and a suggestion. */
import { z } from 'zod';
import { keysAt } from '../agents/definition/json-schema.ts';
import { diagnoseIssues } from '../agents/definition/schema-issues.ts';
import { withoutRefused } from '../agents/definition/without-refused.ts';
import { arrange, type Diagnostic } from '../agents/text/diagnostics.ts';
import { sourceText } from '../agents/text/source-text.ts';
import { type PlaceOf, parseYamlMap } from '../agents/text/yaml-map.ts';
import type { JsonObject } from '../base/json.ts';
import { fail, ok, type Result } from '../base/result.ts';

export interface ParsedSettings<Value> {
  readonly value: Value;
  readonly placeOf: PlaceOf;
}

export function parseSettings<Schema extends z.ZodObject>(
  file: string,
  text: string,
  schema: Schema,
): Result<ParsedSettings<z.infer<Schema>>, readonly Diagnostic[]> {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  // The same reader serves agent files; here the whole file is what it calls frontmatter.
  const problems = (all: readonly Diagnostic[]) =>
    fail(arrange(all.map((one) => ({ ...one, message: one.message.replace('the frontmatter', 'the file') }))));
  if (!map.ok) return problems(map.error);
  const { placeOf } = map.value;
  const parsed = schema.safeParse(map.value.value, { reportInput: true });
  if (parsed.success) return ok({ value: parsed.data, placeOf });
  return problems(diagnoseIssues(parsed.error.issues, placeOf, (path) => keysAt(shapeOf(schema), path)));
}

export interface SalvagedSettings<Value> extends ParsedSettings<Value> {
  /** The names under these keys, whatever stands behind them. */
  readonly names: Readonly<Record<'mcp' | 'vars' | 'providers', readonly string[]>>;
}

/** What can be read of settings with problems, so that `check` sees the rest of the project. Nothing is ever run with it. */
export function salvageSettings<Schema extends z.ZodObject>(
  file: string,
  text: string,
  schema: Schema,
): SalvagedSettings<z.infer<Schema>> | undefined {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  const value = map.ok ? withoutRefused(map.value.value, schema) : undefined;
  if (!map.ok || value === undefined) return undefined;
  const raw: Readonly<Record<string, unknown>> = { ...map.value.value };
  const namesAt = (key: string): readonly string[] => {
    const found = raw[key];
    return typeof found === 'object' && found !== null ? Object.keys(found) : [];
  };
  return {
    value,
    placeOf: map.value.placeOf,
    names: { mcp: namesAt('mcp'), vars: namesAt('vars'), providers: namesAt('providers') },
  };
}

const shapeOf = (schema: z.ZodObject): JsonObject =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject;
