/**
 * When an error is the same again: by its shape. What differs from one time to the next although nothing else does (paths of
 * worktrees, times, numbers, hashes, ids) is left out of it.
 */
const SHAPE_CHARACTERS = 400;

const REPLACED: readonly (readonly [RegExp, string])[] = [
  // What a terminal paints with.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that begin it
  [/\u001b\[[0-9;]*[A-Za-z]/g, ''],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\b/gi, '<time>'],
  [/\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]m)?\b/gi, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/(?:[a-z]:)?(?:[\\/][\w.@+~-]+){2,}[\\/]?/gi, '<path>'],
  [/(?:\b[\w.@+~-]+[\\/])+[\w.@+~-]+/g, '<path>'],
  [/<path>(?::\d+)+/g, '<path>'],
  [/\b(?:task|run|ses)[-_][0-9a-z]{8,}\b/gi, '<id>'],
  [/\b0x[0-9a-f]+\b/gi, '<hash>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b/gi, '<hash>'],
  [/\d+(?:[.,]\d+)*\s?(?:ms|µs|ns|s|sec|seconds?|minutes?|min|m|h|kib|mib|gib|kb|mb|gb|bytes?|b|%)?\b/gi, '<n>'],
];

export function errorShape(text: string): string {
  let shape = text;
  for (const [pattern, mark] of REPLACED) shape = shape.replaceAll(pattern, mark);
  return shape.replaceAll(/\s+/g, ' ').trim().toLowerCase().slice(0, SHAPE_CHARACTERS);
}
