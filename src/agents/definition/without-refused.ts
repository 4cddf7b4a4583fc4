/** What is left of a map when everything is taken out that its schema refuses, by the outermost key. */
import type { z } from 'zod';

/** `undefined` when the rest is refused too, such as for a key that is missing. */
export function withoutRefused<Schema extends z.ZodType>(map: object, schema: Schema): z.infer<Schema> | undefined {
  const first = schema.safeParse(map);
  if (first.success) return first.data;
  const refused = new Set(
    first.error.issues.flatMap(({ path, ...issue }) => {
      if (path.length > 0) return [String(path[0])];
      return issue.code === 'unrecognized_keys' ? issue.keys : [];
    }),
  );
  const rest = schema.safeParse(Object.fromEntries(Object.entries(map).filter(([key]) => !refused.has(key))));
  return rest.success ? rest.data : undefined;
}
