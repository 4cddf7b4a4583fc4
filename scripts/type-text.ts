/** Schemas in the notation of TypeScript, for the pages that are written from them. */
import { z } from 'zod';
import { jsonValue } from '../src/events/message-schemas.ts';

export interface TypeTexts {
  /** The name of a shape that has one, else all of it. */
  typeText(schema: z.core.$ZodType): string;
  spelledOut(schema: z.core.$ZodType): string;
}

/** Every kind of schema that the pages show is here; a new kind must be added. */
export function typeTexts(shared: ReadonlyMap<z.core.$ZodType, string>): TypeTexts {
  const typeText = (schema: z.core.$ZodType): string => shared.get(schema) ?? spelledOut(schema);
  const objectText = (schema: z.ZodObject): string => {
    const fields = Object.entries(schema.shape).map(([name, field]) => `${name}${optionalMark(field)}: ${typeText(field)}`);
    return `{ ${fields.join('; ')} }`;
  };
  const spelledOut = (schema: z.core.$ZodType): string => {
    if (schema === jsonValue || schema instanceof z.ZodUnknown) return 'Json';
    if (schema instanceof z.ZodObject) return objectText(schema);
    if (schema instanceof z.ZodOptional) return typeText(schema.def.innerType);
    if (schema instanceof z.ZodNullable) return `${typeText(schema.def.innerType)} | null`;
    if (schema instanceof z.ZodRecord) return `Record<${typeText(schema.def.keyType)}, ${typeText(schema.def.valueType)}>`;
    if (schema instanceof z.ZodArray) return listOf(typeText(schema.def.element));
    if (schema instanceof z.ZodUnion) return schema.def.options.map(typeText).join(' | ');
    if (schema instanceof z.ZodEnum) return schema.options.map((option) => `'${option}'`).join(' | ');
    if (schema instanceof z.ZodLiteral) return [...schema.values].map(literalText).join(' | ');
    if (schema instanceof z.ZodNumber) return schema.isInt ? 'integer' : 'number';
    if (schema instanceof z.ZodString) return 'string';
    if (schema instanceof z.ZodBoolean) return 'boolean';
    if (schema instanceof z.ZodNull) return 'null';
    throw new Error(`scripts/type-text.ts does not know how to write a ${schema._zod.def.type}.`);
  };
  return { typeText, spelledOut };
}

/** In brackets where it is a choice, whatever kind of schema makes it one: without them only the last would be a list. */
export function listOf(text: string): string {
  let outside = text;
  for (let before = ''; before !== outside; ) {
    before = outside;
    outside = outside.replace(/\{[^{}]*\}|\([^()]*\)|<[^<>]*>/g, '');
  }
  return outside.includes(' | ') ? `(${text})[]` : `${text}[]`;
}

export const optionalMark = (field: z.core.$ZodType): string => (field instanceof z.ZodOptional ? '?' : '');

const literalText = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
