/**
 * Writes a team into `team.md`: the title, the tagline, the mode and the canonical table of members. Only lines that say
 * something else than the team does are touched; members who do not work, further columns and all other sections stay.
 */

import { type GroupPreset, plainName } from '../presets/preset.ts';
import { type MarkdownLine, markdownLines, plainWords, type Table, tableRow } from '../text/markdown-sections.ts';
import { lineEnd, withLineEnd } from './merge.ts';
import type { SquadMember } from './read.ts';
import {
  CANONICAL_HEADER,
  columnOf,
  isWorker,
  memberName,
  modeOf,
  nameColumn,
  placeOfMembers,
  quotedLines,
  type Roster,
  readRoster,
  rosterTable,
} from './roster.ts';

export interface WantedMember {
  readonly name: string;
  readonly role: string | undefined;
  /** Relative to the project. */
  readonly charter: string | undefined;
  /** Who it is in the file, if it is in it. */
  readonly existing: SquadMember | undefined;
}

export type TeamWords = Pick<GroupPreset, 'name' | 'description' | 'mode'>;

export function newTeamFile(team: TeamWords, members: readonly WantedMember[]): string {
  const tagline = oneLine(team.description);
  return [
    `# ${oneLine(team.name)}`,
    ...(tagline === '' ? [] : [`> ${tagline}`]),
    ...(team.mode === 'reflect' ? [] : [`mode: ${team.mode}`]),
    '## Coordinator',
    [
      tableRow(['Name', 'Role', 'Notes']),
      rule(3),
      tableRow(['Squad', 'Coordinator', 'Divides the work and puts results together.']),
    ].join('\n'),
    '## Members',
    `${membersTable(members).join('\n')}\n`,
  ].join('\n\n');
}

export function updatedTeamFile(text: string, team: TeamWords, members: readonly WantedMember[]): string {
  const withMembers = updateMembers(text, members);
  const roster = readRoster(withMembers, '');
  return updateTitle(updateTagline(updateMode(withMembers, roster, team), roster, team), roster, team);
}

const rule = (columns: number): string => `|${'---|'.repeat(columns)}`;
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const join = (lines: readonly Pick<MarkdownLine, 'raw'>[]): string => lines.map(({ raw }) => raw).join('');

function updateTitle(text: string, roster: Roster, { name }: TeamWords): string {
  if (roster.title === name || (roster.title === undefined && name === 'Squad Team')) return text;
  const end = lineEnd(text);
  const lines = markdownLines(text);
  const at = lines.findIndex(({ text: line, live }) => live && /^ {0,3}#([ \t]|$)/.test(line));
  const title = `# ${oneLine(name)}${end}`;
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  if (at === -1) return `${mark}${title}${end}${text.slice(mark.length)}`;
  return `${join(lines.slice(0, at))}${at === 0 ? mark : ''}${title}${join(lines.slice(at + 1))}`;
}

function updateTagline(text: string, roster: Roster, { description }: TeamWords): string {
  const wanted = oneLine(description);
  if (wanted === '' || wanted === (roster.tagline ?? '')) return text;
  const end = lineEnd(text);
  const lines = markdownLines(text);
  const { from, to } = quotedLines(lines);
  if (to > from) return `${join(lines.slice(0, from))}> ${wanted}${end}${join(lines.slice(to))}`;
  return insertAtTop(text, `> ${wanted}`);
}

function updateMode(text: string, roster: Roster, { mode }: TeamWords): string {
  if (mode === (roster.mode ?? 'reflect')) return text;
  const lines = markdownLines(text);
  const found = modeOf(lines);
  if (found === undefined) return insertAtTop(text, `mode: ${mode}`);
  const changed = lines[found.line]?.raw.replace(/(:[\s*`]*)[\w-]+/, (_, before: string) => `${before}${mode}`) ?? '';
  return `${join(lines.slice(0, found.line))}${changed}${join(lines.slice(found.line + 1))}`;
}

/** Below the title, or at the very top when there is none. */
function insertAtTop(text: string, line: string): string {
  const end = lineEnd(text);
  const lines = markdownLines(text);
  const title = lines.findIndex(({ text: one, live }) => live && /^ {0,3}#[ \t]/.test(one));
  if (title === -1) {
    const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
    return `${mark}${line}${end}${end}${text.slice(mark.length)}`;
  }
  const before = join(lines.slice(0, title + 1));
  const space = /\n$/.test(before) ? end : `${end}${end}`;
  return `${before}${space}${line}${end}${join(lines.slice(title + 1))}`;
}

function updateMembers(text: string, members: readonly WantedMember[]): string {
  const end = lineEnd(text);
  const lines = markdownLines(text);
  const place = placeOfMembers(text);
  if (place === undefined) {
    const space = text === '' || text.endsWith(`${end}${end}`) ? '' : text.endsWith(end) ? end : `${end}${end}`;
    return `${text}${space}## Members${end}${end}${membersTable(members).join(end)}${end}`;
  }
  const inside = lines.slice(place.from, place.to);
  const table = rosterTable(inside);
  if (place.headed && table !== undefined && isCanonical(table) && saysTheSame(table, members)) return text;
  const rows = withLineEnd(membersTable(members, table, inside).join('\n'), end);
  const heading = place.headed ? '' : `## Members${end}${end}`;
  const from = table === undefined ? 1 : table.from;
  const before = join([...lines.slice(0, place.from), ...inside.slice(0, from)]);
  const after = join([...inside.slice(table?.to ?? from), ...lines.slice(place.to)]);
  if (table !== undefined) return `${before}${heading}${rows}${end}${after}`;
  const top = before.endsWith('\n') ? before : `${before}${end}`;
  const gap = after.startsWith(end) || after === '' ? '' : end;
  return `${top}${end}${rows}${end}${gap}${after}`;
}

const isCanonical = ({ header }: Table): boolean => CANONICAL_HEADER.every((title, index) => header[index] === title);

/** Whether reading the table gives these workers, in this order, with these roles, and a place for each charter. */
function saysTheSame(table: Table, members: readonly WantedMember[]): boolean {
  const workers = members.filter((member) => member.existing === undefined || isWorker(member.existing));
  const shown = shownWorkers(table);
  return (
    shown.length === workers.length &&
    workers.length === members.length &&
    workers.every((member, index) => shown[index] === keyOf(member.name) && isUnchanged(member))
  );
}

const keyOf = (name: string): string => plainName(name) || name;

function shownWorkers({ header, rows }: Table): readonly string[] {
  const status = columnOf(header, ['status']);
  return rows.flatMap((row) => {
    const name = memberName(row[nameColumn(header)] ?? '');
    return name === undefined || !isWorker({ name, status: row[status] ?? '' }) ? [] : [keyOf(name)];
  });
}

function isUnchanged({ existing, role, charter }: WantedMember): boolean {
  if (existing === undefined || !isWorker(existing)) return false;
  const knownRole = existing.role === '' ? existing.content?.role : existing.role;
  return (role === undefined || plainWords(role) === knownRole) && (charter === undefined || existing.charterFile !== undefined);
}

/** Workers first, in the order of the team; then whoever else was in the table. Rows without a change are kept to the letter. */
function membersTable(members: readonly WantedMember[], table?: Table, inside: readonly MarkdownLine[] = []): readonly string[] {
  const header = table?.header ?? CANONICAL_HEADER;
  const further = header.map((_, index) => index).filter((index) => isFurther(header, index));
  const titles = [...CANONICAL_HEADER, ...further.map((index) => header[index] ?? '')];
  const rows = (table?.rows ?? []).map((cells, index) => ({
    cells,
    name: memberName(cells[nameColumn(header)] ?? ''),
    raw: inside[(table?.from ?? 0) + 2 + index]?.text ?? '',
  }));
  const keep = table !== undefined && isCanonical(table);
  const cell = (cells: readonly string[] | undefined, name: string): string => cells?.[columnOf(header, [name])] ?? '';
  const written = members.map((member) => {
    const row = rows.find(({ name }) => name !== undefined && keyOf(name) === keyOf(member.name));
    if (keep && row !== undefined && isUnchanged(member)) return row.raw;
    const cells = [nameCell(member, row?.cells[nameColumn(header)]), roleCell(member, cell(row?.cells, 'role'))];
    const status =
      member.existing !== undefined && isWorker(member.existing) ? cell(row?.cells, 'status') || member.existing.status : '';
    const own = [...cells, charterCell(member, cell(row?.cells, 'charter')), status || '✅ Active'];
    return tableRow([...own, ...further.map((index) => row?.cells[index] ?? '')]);
  });
  const taken = new Set(members.map(({ name }) => keyOf(name)));
  const others = rows.filter(({ name, cells }) => {
    return name !== undefined && !taken.has(keyOf(name)) && !isWorker({ name, status: cell(cells, 'status') });
  });
  const silent = others.map(({ cells, raw }) => {
    if (keep) return raw;
    const own = [cells[nameColumn(header)] ?? '', cell(cells, 'role'), cell(cells, 'charter') || '—', cell(cells, 'status')];
    return tableRow([...own, ...further.map((index) => cells[index] ?? '')]);
  });
  return [tableRow(titles), rule(titles.length), ...written, ...silent];
}

function isFurther(header: readonly string[], index: number): boolean {
  const own = [nameColumn(header), ...['role', 'charter', 'status'].map((name) => columnOf(header, [name]))];
  return !own.includes(index);
}

const nameCell = (member: WantedMember, said: string | undefined): string => said ?? member.existing?.name ?? member.name;

/** What the cell says stays as it is written, bold words and all, as long as it means the same. */
function roleCell(member: WantedMember, said: string): string {
  const role = member.role ?? (plainWords(said) || (member.existing?.role ?? ''));
  return plainWords(said) === plainWords(role) ? said : role;
}

/** A path that was refused gives way to one that is inside. */
function charterCell({ charter, existing }: WantedMember, said: string): string {
  const path = charter === undefined ? '—' : `\`${charter}\``;
  return charter !== undefined && existing?.charterFile === undefined ? path : said || path;
}
