/**
 * Reads frontmatter as YAML 1.2: strict, keys unique, plain data only (no tags of its own, no cycles, few aliases), one map.
 *
 * Nesting is measured before the document is built: the builder calls itself for each level, and a file of brackets
 * could otherwise end the whole process.
 */
import {
  type Alias,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type Diagnostic, errorAt, type SourcePlace } from './diagnostics.ts';
import type { Span } from './frontmatter.ts';
import type { SourceText } from './source-text.ts';

export type Path = readonly PropertyKey[];

/** Where a key or its value stands; the nearest enclosing one when the path does not lead all the way. */
export type PlaceOf = (path: Path, part?: 'key' | 'value') => SourcePlace;

export interface YamlMap {
  readonly value: Readonly<Record<string, unknown>>;
  readonly placeOf: PlaceOf;
}

export function parseYamlMap(source: SourceText, span: Span): Result<YamlMap, readonly Diagnostic[]> {
  const text = source.text.slice(span.start, span.end);
  const placeAt = (offset: number): SourcePlace => source.placeAt(span.start + Math.min(offset, text.length));
  if (nestingOf(text) > limits.frontmatterDepth) {
    const message = `the frontmatter nests deeper than ${limits.frontmatterDepth} levels (limit frontmatterDepth)`;
    return fail([errorAt(placeAt(0), message, 'Write it flatter.')]);
  }
  const document = parseDocument(text, {
    version: '1.2',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const problems = [...document.errors, ...document.warnings].map((problem) => {
    const { message, fix } = explain(problem.code, problem.message);
    return errorAt(placeAt(problem.pos[0]), message, fix);
  });
  problems.push(...checkAliases(document, placeAt));
  if (problems.length > 0) return fail(problems);
  return toMap(document, placeAt);
}

function toMap(document: Document.Parsed, placeAt: (offset: number) => SourcePlace): Result<YamlMap, readonly Diagnostic[]> {
  const { contents } = document;
  const placeOf: PlaceOf = (path, part = 'value') => placeAt(offsetOf(document, path, part));
  // Nothing but comments between the fences: every key has its default.
  if (contents === null || (isScalar(contents) && contents.value === null)) return ok({ value: {}, placeOf });
  if (!isMap(contents)) {
    const fix = 'Write one `key: value` per line.';
    return fail([errorAt(placeAt(contents.range[0]), 'the frontmatter is not a map of keys and values', fix)]);
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: limits.frontmatterAliases });
    return ok({ value: value as Record<string, unknown>, placeOf });
  } catch (error) {
    return fail([
      errorAt(
        placeAt(0),
        `the frontmatter cannot be read: ${messageOf(error)}`,
        'Write the values out instead of using aliases.',
      ),
    ]);
  }
}

/** Levels of nesting, counted on the flat token tree without recursion. Stops counting once there are too many. */
function nestingOf(text: string): number {
  let deepest = 0;
  const open: { token: CST.Token; depth: number }[] = [];
  for (const token of new Parser().parse(text)) open.push({ token, depth: 0 });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    deepest = Math.max(deepest, depth);
    if (deepest > limits.frontmatterDepth) return deepest;
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) open.push({ token: item.key, depth: depth + 1 });
      if (item.value) open.push({ token: item.value, depth: depth + 1 });
    }
  }
  return deepest;
}

function checkAliases(document: Document.Parsed, placeAt: (offset: number) => SourcePlace): readonly Diagnostic[] {
  const problems: Diagnostic[] = [];
  let count = 0;
  visit(document, {
    Alias: (_key, alias: Alias, ancestors) => {
      count += 1;
      if (count > limits.frontmatterAliases) return visit.BREAK;
      const place = placeAt(alias.range?.[0] ?? 0);
      const target = alias.resolve(document);
      if (target === undefined) problems.push(errorAt(place, `the alias *${alias.source} has no anchor before it`));
      else if (ancestors.some((ancestor) => ancestor === target)) {
        problems.push(errorAt(place, `the alias *${alias.source} stands inside what it names`, 'Write the value out.'));
      }
      return undefined;
    },
  });
  if (count > limits.frontmatterAliases) {
    const message = `the frontmatter has more than ${limits.frontmatterAliases} aliases (limit frontmatterAliases)`;
    problems.push(errorAt(placeAt(0), message, 'Write the values out.'));
  }
  return problems;
}

function offsetOf(document: Document.Parsed, path: Path, part: 'key' | 'value'): number {
  let node: Node | null = document.contents;
  let key: Node | undefined;
  for (const step of path) {
    const container: Node | null | undefined = isAlias(node) ? node.resolve(document) : node;
    if (isMap(container)) {
      const pair = container.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      if (pair === undefined || !isNode(pair.key)) break;
      key = pair.key;
      // A key with nothing after it: the key is the nearest thing to point at.
      node = isNode(pair.value) && hasText(pair.value) ? pair.value : pair.key;
    } else if (isSeq(container) && typeof step === 'number') {
      const item = container.items[step];
      if (!isNode(item)) break;
      node = item;
      key = undefined;
    } else break;
  }
  return (part === 'key' ? (key ?? node) : node)?.range?.[0] ?? 0;
}

function hasText(node: Node): boolean {
  const range = node.range;
  return range !== undefined && range !== null && range[1] > range[0];
}

/** The parser's own words, made plainer where people meet them most. */
function explain(code: string, message: string): { readonly message: string; readonly fix?: string } {
  switch (code) {
    case 'DUPLICATE_KEY':
      return { message: 'this key is given twice', fix: 'Keep one of them.' };
    case 'TAB_AS_INDENT':
      return { message: 'a tab is used to indent', fix: 'Indent with spaces.' };
    case 'BLOCK_AS_IMPLICIT_KEY':
      return { message: 'a second `: ` in one line', fix: 'Put quotes around text that contains `: `.' };
    case 'TAG_RESOLVE_FAILED':
      return {
        message: 'tags such as `!name` are not allowed',
        fix: 'Remove the tag; put quotes around text that starts with `!`.',
      };
    case 'NON_STRING_KEY':
      return { message: 'a key must be plain text' };
    case 'BAD_INDENT':
    case 'MISSING_CHAR':
      return unclosed(message);
    default:
      return { message: `broken YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}` };
  }
}

/** A bracket or a quote, which the parser misses at the place where it gave up. */
function unclosed(message: string): { readonly message: string; readonly fix?: string } {
  const [, sign] = /^Flow .* end with a ([\]}])$/.exec(message) ?? [];
  const fix = 'Close it, or put quotes around the text that it belongs to.';
  if (sign !== undefined) return { message: `broken YAML: a ${sign} is missing`, fix };
  if (/^Missing closing .*quote$/.test(message)) return { message: 'broken YAML: a quote is not closed', fix };
  return { message: `broken YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}` };
}
