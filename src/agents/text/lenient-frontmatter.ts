/**
 * Reads frontmatter that is not quite YAML. Agent files made for other tools often hold long descriptions with `: ` and quotes in
 * them, which those tools accept because they read line by line: `key: everything after it`, lines that are indented or have no
 * key go on, `- item` makes a list.
 */
import type { SourcePlace } from './diagnostics.ts';
import type { Span } from './frontmatter.ts';
import type { SourceText } from './source-text.ts';
import type { PlaceOf, YamlMap } from './yaml-map.ts';

interface Entry {
  readonly offset: number;
  readonly lines: string[];
}

export function readLeniently(source: SourceText, span: Span): YamlMap {
  const entries = new Map<string, Entry>();
  let current: Entry | undefined;
  let offset = span.start;
  for (const line of source.text.slice(span.start, span.end).split('\n')) {
    const [, key, rest] = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?\s*$/.exec(line) ?? [];
    if (key !== undefined) {
      current = { offset, lines: [rest ?? ''] };
      entries.set(key, current);
    } else if (line.trim() !== '' && !line.startsWith('#')) current?.lines.push(line.trim());
    offset += line.length + 1;
  }
  const placeOf: PlaceOf = (path): SourcePlace => source.placeAt(entries.get(String(path[0]))?.offset ?? span.start);
  return { value: Object.fromEntries([...entries].map(([key, entry]) => [key, entryValue(entry)])), placeOf };
}

function entryValue({ lines }: Entry): unknown {
  const [first = '', ...more] = lines;
  if (first === '' && more.length > 0 && more.every((line) => line.startsWith('- '))) {
    return more.map((line) => unquote(line.slice(2).trim()));
  }
  const text = /^[>|][+-]?$/.test(first) ? more.join('\n') : [first, ...more].join('\n').trim();
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : unquote(text);
}

function unquote(text: string): string {
  const quoted = text.length > 1 && (text.startsWith('"') || text.startsWith("'")) && text.endsWith(text.charAt(0));
  return quoted ? text.slice(1, -1) : text;
}
