/**
 * What reading other tools' agent files has in common. They are read as they are: what Troupe cannot honour is a warning,
 * never an error, because the file is right where it was written for.
 */

import { nearest } from '../../base/did-you-mean.ts';
import { fitsText } from '../../permissions/glob.ts';
import type { Frontmatter } from '../definition/definition.ts';
import { type Diagnostic, quote, warningAt } from '../text/diagnostics.ts';
import type { Path, PlaceOf } from '../text/yaml-map.ts';
import type { WrittenRight } from './written-rule.ts';

export interface Translation {
  readonly frontmatter: Frontmatter;
  /** Where the file gives its prompt in the frontmatter. */
  readonly prompt?: string | undefined;
  /** The file switches its agent off. */
  readonly disabled: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Of its rights, those for one tool of an MCP server: which it has is known when it is started. */
  readonly serverRights?: readonly WrittenRight[] | undefined;
}

/** The tool's own settings in the project: a file that is there, or why it could not be read. */
export type SettingsText = { readonly file: string } & (
  | { readonly text: string }
  | { readonly text?: undefined; readonly problem: string }
);

export type Translate = (
  value: Readonly<Record<string, unknown>>,
  placeOf: PlaceOf,
  settings: readonly SettingsText[],
  /** What the file calls its agent by its own name. */
  name: string,
) => Translation;

export type FrontmatterPermissions = NonNullable<Frontmatter['permissions']>;

/** Tools that change something or reach out. A file written for another tool's rules gets to use them by asking. */
const ASKED_TOOLS: readonly string[] = ['write', 'edit', 'shell', 'fetch'];

/** Other tools' names for what ours do, in lower case. */
const TOOLS: Readonly<Record<string, string>> = {
  read: 'read',
  notebookread: 'read',
  write: 'write',
  edit: 'edit',
  multiedit: 'edit',
  patch: 'edit',
  apply_patch: 'edit',
  glob: 'list',
  ls: 'list',
  list: 'list',
  grep: 'search',
  bash: 'shell',
  shell: 'shell',
  webfetch: 'fetch',
  todowrite: 'plan',
  todoread: 'plan',
  askuserquestion: 'ask',
  question: 'ask',
};

/** Our name for another tool's tool; `undefined` when we have nothing like it. */
export function ourTool(name: string): string | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(TOOLS, lower) ? TOOLS[lower] : undefined;
}

/** Ours for all of another tool's tools whose name fits. */
export function ourTools(pattern: string): readonly string[] {
  const fitting = Object.entries(TOOLS).filter(([name]) => fitsText(pattern.toLowerCase(), name));
  return [...new Set(fitting.map(([, tool]) => tool))];
}

/** Collects the warnings of one file and reads its keys one by one, so that what nobody asked for can be named at the end. */
export interface ForeignReader {
  readonly placeOf: PlaceOf;
  readonly diagnostics: Diagnostic[];
  warn(path: Path, message: string, fix?: string, part?: 'key' | 'value'): void;
  /** What was not understood may have been meant as a ban: these tools ask first, `*` for all of them. */
  hold(tools: readonly string[], path: Path, message: string, fix?: string, part?: 'key' | 'value'): void;
  readonly held: ReadonlySet<string>;
  text(key: string): string | undefined;
  number(key: string, min: number, max: number): number | undefined;
  count(key: string): number | undefined;
  flag(key: string): boolean;
  raw(key: string): unknown;
  /**
   * Warns about every key that was not read; `decoration` may stay unread without a word. Where one of `bans` was probably meant,
   * all tools ask.
   */
  finish(tool: string, keys: Record<'known' | 'decoration' | 'bans', readonly string[]>): void;
}

export function foreignReader(value: Readonly<Record<string, unknown>>, placeOf: PlaceOf): ForeignReader {
  const diagnostics: Diagnostic[] = [];
  const read = new Set<string>();
  const warn: ForeignReader['warn'] = (path, message, fix, part = 'value') => {
    diagnostics.push(warningAt(placeOf(path, part), message, fix));
  };
  const held = new Set<string>();
  const hold: ForeignReader['hold'] = (tools, ...said) => {
    for (const tool of tools) held.add(tool);
    warn(...said);
  };
  const raw = (key: string): unknown => {
    read.add(key);
    return Object.hasOwn(value, key) ? value[key] : undefined;
  };
  /** The value if it fits, a warning if there is one that does not. */
  const fitting = <Kind>(key: string, wanted: string, fits: (found: unknown) => found is Kind): Kind | undefined => {
    const found = raw(key) ?? undefined;
    if (found === undefined || fits(found)) return found;
    warn([key], `"${key}" is ignored: it must be ${wanted}`);
    return undefined;
  };
  const inRange =
    (min: number, max: number) =>
    (found: unknown): found is number =>
      typeof found === 'number' && found >= min && found <= max;
  return {
    placeOf,
    diagnostics,
    warn,
    hold,
    held,
    raw,
    text: (key) => fitting(key, 'text', (found): found is string => typeof found === 'string'),
    number: (key, min, max) => fitting(key, `a number from ${min} to ${max}`, inRange(min, max)),
    count: (key) =>
      fitting(key, 'a whole number above 0', (found): found is number => Number.isSafeInteger(found) && Number(found) > 0),
    flag: (key) => fitting(key, 'true or false', (found): found is boolean => typeof found === 'boolean') ?? false,
    finish: (tool, { known, decoration, bans }) => {
      for (const key of Object.keys(value)) {
        if (read.has(key) || decoration.includes(key)) continue;
        const near = known.includes(key) ? undefined : nearest(key, [...read, ...known, ...decoration]);
        const message = known.includes(key)
          ? `"${key}" of ${tool} is not supported and is ignored`
          : `unknown key ${quote(key)} is ignored`;
        const isBan = bans.includes(near ?? key);
        const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
        if (isBan) hold(['*'], [key], `${message}; every tool asks first`, fix, 'key');
        else warn([key], message, fix, 'key');
      }
    },
  };
}

const DESCRIPTION_MAX = 4_000;

/** What becomes of a tool that nobody here knows. `held`: what was probably meant by a ban, and asks first from now on. */
export function withoutCounterpart(name: string, held: readonly string[]): string {
  if (held.length === 0) return `the tool ${quote(name)} has no counterpart here and is left out`;
  const asks = held.length === 1 ? 'asks first' : 'ask first';
  return `the tool ${quote(name)} is unknown, so nothing is banned by it; ${held.join(', ')} ${asks}`;
}

/** Descriptions elsewhere hold whole conversations as examples; ours are shown to models in lists. */
export function description(reader: ForeignReader): string | undefined {
  const text = reader.text('description');
  if (text === undefined || text.length <= DESCRIPTION_MAX) return text;
  reader.warn(['description'], `the description is cut to ${DESCRIPTION_MAX} characters`);
  return text.slice(0, DESCRIPTION_MAX);
}

export function askFor(tools: readonly string[]): FrontmatterPermissions {
  return Object.fromEntries(tools.filter((tool) => ASKED_TOOLS.includes(tool)).map((tool) => [tool, 'ask' as const]));
}

/** Leaves out what has no value, as the strict types want it. */
export function compact(entries: { readonly [Key in keyof Frontmatter]: Frontmatter[Key] | undefined }): Frontmatter {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Frontmatter;
}
