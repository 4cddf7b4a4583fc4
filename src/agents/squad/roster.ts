/**
 * What `team.md` says: the name of the team, its mode, and who is in it. Only `## Members` is read, since other tables name the
 * coordinator, the coding agent or nobody. Members stand in a table, or each under a heading of their own; where there is a
 * table, it decides who is in, and headings only add to it.
 */

import { type GroupMode, plainName } from '../presets/preset.ts';
import { type Diagnostic, warningAt } from '../text/diagnostics.ts';
import {
  type MarkdownLine,
  markdownLines,
  markdownSections,
  markdownTables,
  plainWords,
  type Table,
} from '../text/markdown-sections.ts';

export interface RosterMember {
  readonly name: string;
  readonly role: string;
  /** The path of the charter as it is said; not checked. */
  readonly charter: string | undefined;
  readonly status: string;
  readonly model: string | undefined;
  /** Counted from one. */
  readonly line: number;
}

export interface Roster {
  readonly title: string | undefined;
  readonly tagline: string | undefined;
  readonly mode: GroupMode | undefined;
  readonly members: readonly RosterMember[];
  readonly warnings: readonly Diagnostic[];
}

export const CANONICAL_HEADER = ['Name', 'Role', 'Charter', 'Status'] as const;
const NAME_HEADERS = ['name', 'member', 'agent'];
const MODES: Readonly<Record<string, GroupMode>> = {
  broadcast: 'broadcast',
  sequential: 'sequential',
  orchestrator: 'orchestrator',
  'orchestrator-reflect': 'reflect',
  orchestratorreflect: 'reflect',
  reflect: 'reflect',
};
const NAME_CHARACTERS = 200;
const ROLE_CHARACTERS = 1_000;

export function readRoster(text: string, file: string): Roster {
  const lines = markdownLines(text);
  const warnings: Diagnostic[] = [];
  const place = placeOfMembers(text);
  if (place !== undefined && !place.headed) {
    warnings.push(warningAt({ file, line: 1, column: 1 }, 'there is no "## Members" heading: the table at the top is read'));
  }
  const members = place === undefined ? [] : membersIn(lines.slice(place.from, place.to), place.from);
  const unique = new Map<string, RosterMember>();
  for (const member of members) {
    const twin = unique.get(plainName(member.name) || member.name);
    if (twin === undefined) unique.set(plainName(member.name) || member.name, member);
    else warnings.push(warningAt({ file, line: member.line, column: 1 }, `"${member.name}" is a member twice`));
  }
  const mode = modeOf(lines);
  if (mode !== undefined && MODES[mode.word] === undefined) {
    const known = 'Known modes: broadcast, sequential, orchestrator, reflect.';
    warnings.push(warningAt({ file, line: mode.line + 1, column: 1 }, `unknown mode "${mode.word}": reflect is used`, known));
  }
  return {
    title: titleOf(text),
    tagline: taglineOf(text),
    mode: mode === undefined ? undefined : MODES[mode.word],
    members: [...unique.values()],
    warnings,
  };
}

export interface MembersPlace {
  /** Whether there is a heading for it: from the heading to the next one. Otherwise the text before the first `##`. */
  readonly headed: boolean;
  readonly from: number;
  readonly to: number;
}

/** In lines. `undefined` when the file has neither the heading nor a roster at its top. */
export function placeOfMembers(text: string): MembersPlace | undefined {
  let from = 0;
  let top = 0;
  for (const { level, title, raw } of markdownSections(text, 2)) {
    const to = from + markdownLines(raw).length;
    if (level === 2 && /^members$/i.test(title.replaceAll(/[^\p{L}]/gu, ''))) return { headed: true, from, to };
    if (level < 2 && top === from) top = to;
    from = to;
  }
  const table = rosterTable(markdownLines(text).slice(0, top));
  return table === undefined ? undefined : { headed: false, from: 0, to: top };
}

/** The first table that has a column for names and, to be told from other tables, one for roles. */
export function rosterTable(lines: readonly MarkdownLine[]): Table | undefined {
  return markdownTables(lines).find(({ header }) => columnOf(header, NAME_HEADERS) >= 0 && columnOf(header, ['role']) >= 0);
}

export const columnOf = (header: readonly string[], names: readonly string[]): number =>
  header.findIndex((cell) => names.includes(plainWords(cell).toLowerCase()));

export const nameColumn = (header: readonly string[]): number => columnOf(header, NAME_HEADERS);

function membersIn(lines: readonly MarkdownLine[], offset: number): readonly RosterMember[] {
  const sections = sectionMembers(lines, offset);
  const table = rosterTable(lines);
  if (table === undefined) return sections;
  const cell = (row: readonly string[], ...names: string[]): string => row[columnOf(table.header, names)] ?? '';
  return table.rows.flatMap((row, index) => {
    const name = memberName(row[nameColumn(table.header)] ?? '');
    if (name === undefined) return [];
    const more = sections.find((one) => plainName(one.name) === plainName(name));
    const role = plainWords(cell(row, 'role')).slice(0, ROLE_CHARACTERS);
    return {
      name,
      role: role === '' ? (more?.role ?? '') : role,
      charter: charterPath(cell(row, 'charter')) ?? more?.charter,
      status: plainWords(cell(row, 'status')),
      model: wordOf(cell(row, 'model', 'preferred model')) ?? more?.model,
      line: offset + table.from + 3 + index,
    };
  });
}

/** The name in a cell, without ornament; `undefined` for repeated headers, placeholders and nothing. */
export function memberName(cell: string): string | undefined {
  const words = plainWords(cell).normalize('NFC');
  const bare = words.replace(/^[^\p{L}\p{N}@_{]+/u, '');
  const name = bare === '' && !/^[\p{P}\s]*$/u.test(words) ? words : bare;
  if (name === '' || /^[{<]/.test(name) || NAME_HEADERS.includes(name.toLowerCase())) return undefined;
  return Array.from(name).slice(0, NAME_CHARACTERS).join('').trim();
}

/** `### Ripley`, or `### Ripley — Lead`, with `- **Role:** …` and the like below. */
function sectionMembers(lines: readonly MarkdownLine[], offset: number): readonly RosterMember[] {
  let at = offset;
  return markdownSections(lines.map(({ raw }) => raw).join(''), 3).flatMap(({ level, title, raw }) => {
    const line = at + 1;
    at += markdownLines(raw).length;
    const [said = '', role = ''] = title.split(/\s+[—–-]\s+/, 2);
    const name = level === 3 ? memberName(said) : undefined;
    if (name === undefined) return [];
    const bullet = (key: string): string => bulletOf(raw, key) ?? '';
    return {
      name,
      role: plainWords(bullet('role') || role).slice(0, ROLE_CHARACTERS),
      charter: charterPath(bullet('charter')),
      status: plainWords(bullet('status')),
      model: wordOf(bullet('model')),
      line,
    };
  });
}

/** What stands behind `- **Key:**`, in one of the ways in which people write that. */
export function bulletOf(text: string, key: string): string | undefined {
  const pattern = new RegExp(`^\\s*(?:[-*+]\\s+)?(?:\\*\\*|__)?${key}(?:\\*\\*|__)?\\s*:\\s*(?:\\*\\*|__)?\\s*(.+)$`, 'i');
  const found = markdownLines(text).find((line) => line.live && pattern.test(line.text));
  return found === undefined ? undefined : pattern.exec(found.text)?.[1]?.trim();
}

/** A path in backticks, bare or as a link; a dash or nothing means that there is none. */
function charterPath(cell: string): string | undefined {
  const path = (/\]\(([^)]+)\)/.exec(cell)?.[1] ?? cell).replaceAll('`', '').trim();
  return /[\p{L}\p{N}]/u.test(path) && !/^(none|n\/a|tbd)$/i.test(path) ? path : undefined;
}

/** The first word, which is a model's name unless it says that somebody else shall choose. */
export function wordOf(said: string): string | undefined {
  const word = plainWords(said).split(/[\s,(]/, 1)[0] ?? '';
  return /^[\p{L}\p{N}][\w./:@-]*$/u.test(word) && !/^(default|none|tbd)$/i.test(word) ? word : undefined;
}

/** `mode: reflect` on a line of its own. A sentence that merely begins like it is not meant. */
export function modeOf(lines: readonly MarkdownLine[]): { readonly word: string; readonly line: number } | undefined {
  for (const [line, { text, live }] of lines.entries()) {
    const word = live ? /^\s*(?:[-*>]\s+)?(?:\*\*)?mode(?:\*\*)?\s*:\s*(?:\*\*)?\s*`?([\w-]+)`?\s*$/i.exec(text)?.[1] : undefined;
    if (word !== undefined) return { word: word.toLowerCase(), line };
  }
  return undefined;
}

function titleOf(text: string): string | undefined {
  const section = markdownSections(text, 1).find(({ level }) => level === 1);
  const title = section === undefined ? '' : plainWords(section.title).normalize('NFC');
  return title === '' ? undefined : Array.from(title).slice(0, NAME_CHARACTERS).join('').trim();
}

/** The lines quoted with `>` between the title and the first `##`. */
function taglineOf(text: string): string | undefined {
  const lines = markdownLines(text);
  const quote = quotedLines(lines);
  const words = lines.slice(quote.from, quote.to).map((line) => line.text.replace(/^\s*>\s?/, ''));
  const tagline = words.join(' ').replaceAll(/\s+/g, ' ').trim();
  return tagline === '' ? undefined : tagline;
}

/** Where the first quotation at the top stands; empty when there is none. */
export function quotedLines(lines: readonly MarkdownLine[]): { readonly from: number; readonly to: number } {
  const end = lines.findIndex(({ text, live }) => live && /^ {0,3}##/.test(text));
  const top = end === -1 ? lines : lines.slice(0, end);
  const isQuote = ({ text, live }: MarkdownLine): boolean => live && /^\s*>/.test(text);
  const from = top.findIndex(isQuote);
  if (from === -1) return { from: 0, to: 0 };
  const length = top.slice(from).findIndex((line) => !isQuote(line));
  return { from, to: length === -1 ? top.length : from + length };
}

const SILENT_NAMES = new Set(['scribe', 'ralph', 'rai', 'factchecker', 'coordinator', 'squad', 'copilot']);
const SILENT_STATUS = /\b(silent|monitor|rai|verifier|alumni|retired|inactive|archived)\b/i;

/** Whether tasks go to this member: not to who logs, watches or coordinates, and not to who has left. */
export function isWorker({ name, status }: Pick<RosterMember, 'name' | 'status'>): boolean {
  return !SILENT_NAMES.has(name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')) && !SILENT_STATUS.test(status);
}
