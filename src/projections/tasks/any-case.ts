/** Schemas for JSON that is read as .NET reads it: names in any case, null where something is left out, numbers from strings. */
import { z } from 'zod';
import { isJsonObject, type Json } from '../../base/json.ts';

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A number, or a string that holds nothing else. */
export const fromString = (value: unknown): unknown =>
  typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : value;

/** An object whose properties may be written in any case, and may be null where they may be absent. */
export function anyCase<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((value) => {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, item]): readonly [string, Json | undefined] => [names.get(name.toLowerCase()) ?? name, item])
        .filter(([name, item]) => item !== null || !Object.hasOwn(shape, name)),
    );
  }, z.looseObject(shape));
}
