/** One picture of the whole screen: what there is and how large the window is, to rows of exactly that size. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import { endedText } from '../../events/verification-text.ts';
import { subtree } from '../../projections/run-tree.ts';
import { firstWords, headLine } from '../drive/inbox-list.ts';
import { leftStanding } from '../drive/left-standing.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, hardWrap, textWidth, wrapToWidth } from '../terminal/text-width.ts';
import { promptWithin } from '../view/canvas.ts';
import { treeLines } from '../view/tree-lines.ts';
import { draftRow } from './draft.ts';
import { type AttachState, elsewhereIn, markedAt, runsOf } from './state.ts';

export interface WindowLook {
  readonly width: number;
  readonly height: number;
  readonly now: number;
  readonly paint: Screen['paint'];
}

export interface Picture {
  /** As many as the window has rows, none wider than it. */
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** Header, a line below it, what is told, what is typed, the keys. */
export const OTHER_ROWS = 5;
/** From here on the tree stands beside the words. */
const WIDE = 120;
const TREE_SHARE = 3;
const TREE_COLUMNS_MAX = 80;

export interface Layout {
  readonly beside: boolean;
  readonly tree: { readonly width: number; readonly height: number };
  readonly body: { readonly width: number; readonly height: number };
}

export const isTooSmall = ({ width, height }: Pick<WindowLook, 'width' | 'height'>): boolean =>
  width < limits.attachColumns || height < limits.attachRows;

/** Where there is room for what; `runs` is how many the tree has. */
export function layoutOf({ width, height }: Pick<WindowLook, 'width' | 'height'>, runs: number): Layout {
  const room = Math.max(1, height - OTHER_ROWS);
  if (width >= WIDE) {
    const left = Math.min(TREE_COLUMNS_MAX, Math.floor((width * 2) / 5));
    return { beside: true, tree: { width: left, height: room }, body: { width: width - left - 3, height: room } };
  }
  const tall = Math.min(Math.max(1, runs), Math.max(2, Math.floor(room / TREE_SHARE)));
  return { beside: false, tree: { width, height: tall }, body: { width, height: Math.max(1, room - tall - 1) } };
}

export function picture(state: AttachState, look: WindowLook): Picture {
  const { width, height, paint } = look;
  if (isTooSmall(look)) return { rows: sized(tooSmall(width), height), cursor: undefined };
  const { mode } = state;
  const middle = height - OTHER_ROWS;
  const rows = [header(state, look), paint.dim('─'.repeat(width))];
  if (mode.kind === 'help') rows.push(...sized(helpRows(mode.page, width, middle), middle));
  else if (mode.kind === 'inbox') rows.push(...inboxRows(state.inbox, mode.marked, width, middle));
  else if (mode.kind === 'asked') rows.push(...questionRows(mode, width, middle));
  else rows.push(...lookRows(state, look));
  const typed = typedRow(state, width);
  rows.push(cutToWidth(told(state), width), typed?.row ?? '', footer(state, look));
  rows[height - 3] = paint.yellow(rows[height - 3] ?? '');
  return { rows, cursor: typed === undefined ? undefined : { row: height - 2, column: typed.column } };
}

const tooSmall = (width: number): readonly string[] =>
  [`too small: ${limits.attachColumns}x${limits.attachRows} at least`, 'q leaves'].map((line) => cutToWidth(line, width));

const sized = (rows: readonly string[], height: number): string[] =>
  Array.from({ length: Math.max(0, height) }, (_none, index) => rows[index] ?? '');

function header(state: AttachState, { width, paint }: WindowLook): string {
  const root = state.tree.runs.get(state.root);
  const agent = safeLine(root?.agent ?? '');
  const waits = state.waits.length === 0 ? [] : [`${counted(state.waits.length, 'question')} for you`];
  const facts = [shortId(state.root), ...waits, driverText(state)].join(' · ');
  const name = cutToWidth(agent, Math.max(8, Math.floor(width / 3)));
  return `${paint.bold(name)} ${cutToWidth(facts, width - textWidth(name) - 1)}`;
}

function driverText({ driver, tree, root, waits }: AttachState): string {
  const state = tree.runs.get(root)?.state ?? 'running';
  if (driver.by === 'ended') return endedText(state, tree.runs.get(root)?.verification ?? null);
  if (driver.by === 'here') return `${state}, worked on here`;
  if (driver.by === 'elsewhere') return `${state}, worked on by ${safeLine(driver.who)}`;
  // A root stands still for the sake of whoever asks below it.
  if (state === 'running' && waits.length > 0) return 'waiting';
  return state === 'running' ? 'interrupted: nobody works on it' : state;
}

function lookRows(state: AttachState, look: WindowLook): readonly string[] {
  const runs = runsOf(state);
  const { beside, tree, body } = layoutOf(look, runs.length);
  const trees = sized(treeRows(state, look, tree), tree.height);
  const words = sized(window(state.body, body.height, state.back), body.height);
  if (!beside) return [...trees, look.paint.dim('─'.repeat(look.width)), ...words];
  const bar = look.paint.dim('│');
  return trees.map((row, index) => `${padded(row, tree.width)} ${bar} ${words[index] ?? ''}`);
}

const widthOf = (row: string): number => textWidth(stripVTControlCharacters(row));
const padded = (row: string, width: number): string => row + ' '.repeat(Math.max(0, width - widthOf(row)));

/** The last of them, or as many further up as somebody has gone. */
function window(rows: readonly string[], height: number, back: number): readonly string[] {
  const end = Math.max(Math.min(height, rows.length), rows.length - back);
  return rows.slice(Math.max(0, end - height), end);
}

/** How far up one can go. */
export const backMost = (rows: number, height: number): number => Math.max(0, rows - height);

function treeRows(state: AttachState, look: WindowLook, room: Layout['tree']): readonly string[] {
  const runs = runsOf(state);
  const cut = runs.length > room.height;
  const height = cut ? room.height - 1 : room.height;
  const at = Math.max(
    0,
    runs.findIndex(({ node }) => node.run === state.selected),
  );
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), runs.length - height));
  const standing = state.driver.by === 'nobody' ? leftStanding(state.tree, state.root) : undefined;
  const shown = { ...look, calls: 0, ...present({ standing }) };
  const rows = runs.slice(from, from + height).map(({ node, depth }) => {
    const guide = `${node.run === state.selected ? '▸ ' : '  '}${'  '.repeat(Math.min(depth, 8))}`;
    const [line = ''] = treeLines(state.tree, node.run, { ...shown, width: room.width - textWidth(guide) });
    return `${guide}${line}`;
  });
  const left = runs.length - rows.length;
  return cut ? [...rows, look.paint.dim(cutToWidth(`  … ${counted(left, 'more run')}: Tab goes to them`, room.width))] : rows;
}

function questionRows(mode: Extract<AttachState['mode'], { kind: 'asked' }>, width: number, height: number): readonly string[] {
  // Nothing of a request is left out where it does not fit: it goes on in the next row.
  const rows = mode.said.flatMap((line) => hardWrap(line, width));
  return sized(window(rows, height, Math.min(mode.back, backMost(rows.length, height))), height);
}

/** Two rows for each: whose it is, and what it is. The marked one is in sight. */
function inboxRows(inbox: AttachState['inbox'], marked: string | undefined, width: number, height: number): readonly string[] {
  if (inbox.length === 0) return sized(['nothing waits for you'], height);
  const at = markedAt(inbox, marked);
  const rows = inbox.flatMap((item, index) => [
    cutToWidth(`${index === at ? '▸ ' : '  '}${headLine(item)}`, width),
    cutToWidth(`    ${firstWords(item.wait)}`, width),
  ]);
  const from = Math.max(0, Math.min(at * 2 - Math.floor(height / 2), rows.length - height));
  return sized(rows.slice(from, from + height), height);
}

const OFFER = 'nobody works on this run: r takes it up here';

/** Why a model has to be asked again: of the marked run, or else of the first that waits for that. */
function outageText({ tree, root, selected, driver }: AttachState): string {
  if (driver.by === 'nobody' || driver.by === 'ended') return '';
  const waiting = subtree(tree, root).filter(({ asking }) => asking?.why !== undefined);
  const node = waiting.find(({ run }) => run === selected) ?? waiting[0];
  return node === undefined ? '' : `${safeLine(node.agent)}: ${safeLine(node.asking?.why ?? '')}`;
}

function told(state: AttachState): string {
  const { notice, waits, inbox, call, driver, mode, tree, root } = state;
  if (mode.kind === 'leaving')
    return `the run is worked on here: leaving stops it. Leave? y or n (to go on: ${call} resume ${shortId(root)})`;
  if (notice !== undefined) return safeLine(notice);
  // What is typed to a question, or to a run, is no key.
  if (mode.kind !== 'looking') return '';
  const [first] = waits;
  const more = waits.length > 1 ? `, and ${counted(waits.length - 1, 'more question')}` : '';
  const elsewhere = elsewhereIn({ inbox, root }).length;
  const others = elsewhere === 0 ? '' : `${counted(elsewhere, 'question')} in other runs: o shows all`;
  const own =
    first === undefined
      ? driver.by === 'nobody' && tree.runs.get(root)?.state !== 'waiting'
        ? OFFER
        : ''
      : `? ${safeLine(first.agent)} waits for you${more}: i answers`;
  return [own, outageText(state), others].filter((part) => part !== '').join('; ');
}

function typedRow(state: AttachState, width: number): { readonly row: string; readonly column: number } | undefined {
  const { mode } = state;
  if (mode.kind === 'writing') {
    const agent = cutToWidth(safeLine(state.tree.runs.get(state.selected)?.agent ?? ''), Math.floor(width / 3));
    return draftRow(`to ${agent}: `, mode.draft, width);
  }
  if (mode.kind === 'asked' && mode.prompt !== undefined)
    return draftRow(cutToWidth(promptWithin(mode.prompt, width - 12), width - 12), mode.draft, width);
  return undefined;
}

const KEYS = {
  leaving: [
    ['y', 'leave'],
    ['n', 'stay'],
  ],
  writing: [
    ['Enter', 'send'],
    ['Esc', 'not now'],
  ],
  inbox: [
    ['Enter', 'answer'],
    ['Esc', 'back'],
    ['↑↓', 'mark'],
  ],
  asked: [
    ['Enter', 'answer'],
    ['Esc', 'leave it open'],
    ['PgUp', 'look back'],
  ],
} as const satisfies Partial<Record<AttachState['mode']['kind'], readonly (readonly [string, string])[]>>;

/** The keys that mean something now; those at the end go where there is no room. */
function keysOf(state: AttachState, { width, height }: WindowLook): readonly (readonly [key: string, does: string])[] {
  const { mode, waits, driver, inbox, root } = state;
  if (mode.kind === 'help') {
    const isLast = mode.page + 1 >= helpPages(width, height - OTHER_ROWS).length;
    return isLast
      ? [['any key', 'back']]
      : [
          ['any key', 'the rest'],
          ['Esc', 'back'],
        ];
  }
  if (mode.kind !== 'looking') return KEYS[mode.kind];
  return [
    ['q', 'leave'],
    ['?', 'keys'],
    ...(waits.length > 0 ? [['i', 'answer'] as const] : []),
    ...(elsewhereIn({ inbox, root }).length > 0 ? [['o', 'inbox'] as const] : []),
    // What waits for an answer goes on with it.
    ...(driver.by === 'nobody' && waits.length === 0 ? [['r', 'take it up'] as const] : []),
    ...(driver.by === 'ended' ? [] : [['s', 'say something'] as const]),
    ['Tab', 'next run'],
    ['↑↓ PgUp PgDn', 'scroll'],
  ];
}

function footer(state: AttachState, look: WindowLook): string {
  const { width, paint } = look;
  let row = '';
  for (const [key, does] of keysOf(state, look)) {
    const next = `${row === '' ? '' : `${row} · `}${key} ${does}`;
    if (textWidth(next) > width) break;
    row = next;
  }
  return paint.dim(row);
}

const HELP: readonly (readonly [string, string])[] = [
  ['Tab, Shift-Tab', 'the next run of the tree, the one before'],
  ['↑ ↓ PgUp PgDn', 'scroll its words; Home, End: to their ends'],
  ['s or Enter', 'say something to the run that is marked'],
  ['i', 'answer what waits, of the marked run first'],
  ['o', 'the inbox: all that waits in the project, of other runs too; Enter answers, Esc comes back'],
  ['r', 'take up a run that nobody works on'],
  ['q or Ctrl-C', 'leave; who else works on it goes on'],
  ['Ctrl-Z', 'stop for a while; fg comes back'],
];

const HELP_INDENT = 18;

/** As many pages as it takes: nothing of it is cut, and what a key does is not torn apart. */
export function helpPages(width: number, height: number): readonly (readonly string[])[] {
  const pages: string[][] = [[]];
  for (const [key, does] of HELP) {
    const lines = wrapToWidth(does, width - HELP_INDENT);
    const rows = lines.map((line, index) => `${(index === 0 ? `  ${key}` : '').padEnd(HELP_INDENT)}${line}`);
    const page = pages.at(-1);
    if (page !== undefined && page.length + rows.length <= height) page.push(...rows);
    else pages.push(rows);
  }
  return pages;
}

function helpRows(page: number, width: number, height: number): readonly string[] {
  const pages = helpPages(width, height);
  // In a window that has grown there are fewer.
  return pages[Math.min(page, pages.length - 1)] ?? [];
}
