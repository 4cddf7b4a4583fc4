/**
 * The run tree as lines of text: one line per run, never wider than the screen. Used live and for the last, still picture.
 * What happened under a run stands below it in the order in which it began; the cycles of a team have a line of their own.
 */

import { stripVTControlCharacters } from 'node:util';
import { unreachable } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import { endedText } from '../../events/verification-text.ts';
import { addSpending, noSpending } from '../../projections/costs.ts';
import {
  firstLine,
  readableCost,
  readableCount,
  readableDuration,
  readableMoney,
  readableTokens,
  shownAgent,
} from '../../projections/readable.ts';
import {
  activityOf,
  onlyWaits,
  type RunNode,
  type RunTree,
  subtree,
  subtreeDoings,
  subtreeSpending,
} from '../../projections/run-tree.ts';
import type { ToolUse } from '../../projections/tool-uses.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, textWidth } from '../terminal/text-width.ts';
import { type CycleItem, itemsBelow, type TreeItem } from './tree-items.ts';

export interface TreeLook {
  readonly now: number;
  readonly width: number;
  readonly paint: Screen['paint'];
  /** How many tool calls the whole picture may show. */
  readonly calls?: number;
  /** What was said to a run has a line of its own where it does not fit beside. */
  readonly notes?: boolean;
  /** Cycles that are over take one line. */
  readonly brief?: boolean;
  /** Characters that a run has written so far, of those whose text is not the answer. */
  readonly writing?: ReadonlyMap<RunId, number>;
  /** How a run stands that nobody drives: then it does nothing, whatever it began. */
  standing?(node: RunNode): RunNode['state'] | 'interrupted';
}

const NANO_PER_USD = 1_000_000_000;
const NOTE_CHARACTERS = 70;
/** Less of a note says nothing. */
const NOTE_WIDTH_MIN = 16;

/** Few runs show many of their calls, many runs show few: the picture stays about as tall. */
const CALLS_SHOWN = 12;

export function treeLines(tree: RunTree, root: RunId, look: TreeLook): readonly string[] {
  const start = tree.runs.get(root);
  if (start === undefined) return [];
  const callsEach = Math.floor((look.calls ?? CALLS_SHOWN) / Math.max(1, subtree(tree, root).length));
  const severalAsk = subtree(tree, root).reduce((count, { waits }) => count + waits.length, 0) > 1;
  const lines: string[] = [];
  const whyLines = createWhyLines(tree, look);
  const pending: (Guides & { readonly item: TreeItem })[] = [
    { item: { kind: 'run', node: start, position: 0 }, own: '', below: '' },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { item, own, below } = next;
    lines.push(...itemLines(tree, item, start, { own, below }, look));
    if (item.kind === 'run') lines.push(...whyLines(item.node, below));
    if (severalAsk && item.kind === 'run') lines.push(...asksLines(item.node, below, look));
    const items = look.brief === true && item.kind === 'cycle' && item.over ? [] : itemsBelow(tree, item, callsEach);
    const placed = items.map((child, index) => {
      const last = index === items.length - 1;
      return { item: child, own: `${below}${last ? '└─ ' : '├─ '}`, below: `${below}${last ? '   ' : '│  '}` };
    });
    pending.push(...placed.toReversed());
  }
  return lines;
}

interface Guides {
  readonly own: string;
  readonly below: string;
}

function itemLines(tree: RunTree, item: TreeItem, root: RunNode, guides: Guides, look: TreeLook): readonly string[] {
  switch (item.kind) {
    case 'run':
      return runLines(tree, item.node, root, guides, look);
    case 'call':
      return [callLine(item.use, guides.own, look)];
    case 'cycle':
      return [cycleLine(tree, item, guides.own, look)];
    default:
      return unreachable(item);
  }
}

/** `cycle 1  3 members, supervisor · 5.7k tokens · $0 · 834ms`. */
function cycleLine(tree: RunTree, { cycle, runs, over }: CycleItem, guide: string, { paint, width, now }: TreeLook): string {
  const members = runs.filter((run) => run.place?.leads === false).length;
  const spent = runs.map((run) => subtreeSpending(tree, run.run)).reduce(addSpending, noSpending());
  const tokens = readableTokens(spent.inputTokens + spent.outputTokens, spent);
  const from = Math.min(...runs.map((run) => run.startedAt));
  const took = over ? readableDuration(Math.max(...runs.map((run) => run.endedAt ?? from)) - from) : wholeSeconds(now - from);
  const who = members === 0 ? 'supervisor only' : counted(members, 'member');
  const head = `cycle ${cycle}`;
  const cost = { text: readableCost(spent), brief: briefCost(spent) };
  const facts: readonly Fact[] = [{ text: who }, { text: `${tokens} tokens`, rank: 2 }, cost, { text: took }];
  const room = width - textWidth(guide) - textWidth(head) - 2;
  const tail = room > 0 ? `  ${paint.dim(fitted(facts, room).text)}` : '';
  return `${paint.dim(guide)}${cutToWidth(head, Math.max(1, width - textWidth(guide)))}${tail}`;
}

const CALL_WIDTH_MIN = 8;

function callLine(call: ToolUse, guide: string, { paint, width }: TreeLook): string {
  const symbol = call.durationMs === null ? paint.cyan('●') : call.failed ? paint.red('✗') : paint.green('✓');
  const took = call.notRun ? ' · not run' : call.durationMs === null ? '' : ` · ${readableDuration(call.durationMs)}`;
  const text = `${safeLine(call.name)} ${safeLine(call.subject)}`.trim();
  const room = Math.max(1, width - textWidth(guide) - 2);
  const left = room - textWidth(took);
  // What came of it is seen on a narrow screen, too.
  const shown = left < CALL_WIDTH_MIN ? cutToWidth(`${text}${took}`, room) : `${cutToWidth(text, left)}${took}`;
  return `${paint.dim(guide)}${symbol} ${shown}`;
}

/** A run's line, with what was said to it beside the line if there is room, else below it if the picture stands still. */
function runLines(tree: RunTree, node: RunNode, root: RunNode, guides: Guides, look: TreeLook): readonly string[] {
  const line = runLine(tree, node, root, guides.own, look);
  if (node.note === null) return [line];
  const note = `“${firstLine(safeLine(node.note), NOTE_CHARACTERS)}”`;
  if (textWidth(stripVTControlCharacters(line)) + 1 + textWidth(note) <= look.width) return [`${line} ${note}`];
  const room = look.width - textWidth(stripVTControlCharacters(line)) - 1;
  if (look.notes !== true) return [room < NOTE_WIDTH_MIN ? line : `${line} ${cutToWidth(note, room)}`];
  const guide = `${guides.below}${node.children.length > 0 ? '│ ' : '  '}`;
  return [line, `${look.paint.dim(guide)}${cutToWidth(note, Math.max(1, look.width - textWidth(guide)))}`];
}

/** Where several ask at once, what each of them asks: the question that is put is one of them. */
const asksLines = (node: RunNode, below: string, look: TreeLook): readonly string[] =>
  node.asks.map((text) => lineBelow(node, below, `asks: ${safeLine(text)}`, look));

/** Why a model has to be asked again; what keeps several of them waiting is said once. */
function createWhyLines(tree: RunTree, look: TreeLook): (node: RunNode, below: string) => readonly string[] {
  const said = new Set<string>();
  return (node, below) => {
    const why = safeLine(node.asking?.why ?? '');
    if (why === '' || said.has(why) || stillState(tree, node, look) !== undefined) return [];
    said.add(why);
    return [lineBelow(node, below, why, look)];
  };
}

/** A line about a run, between its own and those of what it began. */
function lineBelow({ children }: RunNode, below: string, text: string, { paint, width }: TreeLook): string {
  const guide = `${below}${children.length > 0 ? '│ ' : '  '}`;
  return `${paint.dim(guide)}${cutToWidth(text, Math.max(1, width - textWidth(guide)))}`;
}

function runLine(tree: RunTree, node: RunNode, root: RunNode, guide: string, look: TreeLook): string {
  const { paint, width } = look;
  const room = Math.max(1, width - textWidth(guide) - 2);
  const { head, facts: known } = headAndFacts(namesOf(node, root), factsOf(tree, node, look), room);
  const facts = withError(known, node, root, room - textWidth(head) - 2);
  const tail = facts === '' ? '' : `  ${node.waits.length > 0 ? paint.yellow(facts) : paint.dim(facts)}`;
  const { state, verification } = node;
  const symbol = symbolOf({ verification, state: stillState(tree, node, look) ?? state }, paint);
  return `${paint.dim(guide)}${symbol} ${paint.bold(head)}${tail}`;
}

/** Who it is and its part; who it is, where there is no room for both. */
function namesOf(node: RunNode, root: RunNode): readonly [string, string] {
  const name = safeLine(shownAgent(node.agent, node.role));
  return [`${name}${roleText(node, root)}`, name];
}

/** Less of a name tells nobody apart. */
const NAME_WIDTH_MIN = 6;

/** Its part goes before what it costs and how long it takes does, and then the end of its name. */
function headAndFacts([whole, name]: readonly [string, string], facts: readonly Fact[], room: number) {
  const beside = (head: string): Fitted => fitted(facts, Math.max(0, room - textWidth(head) - 2));
  const head = cutToWidth(whole, room);
  const { text, least } = beside(head);
  if (least <= room - textWidth(head) - 2) return { head, facts: text };
  const short = cutToWidth(name, Math.max(Math.min(NAME_WIDTH_MIN, room), room - 2 - least));
  return { head: short, facts: beside(short).text };
}

/** The run's part, and whether the answer is its own: the root's result may be that of the last in a chain. */
function roleText(node: RunNode, root: RunNode): string {
  const asked = node.role === 'sub-agent' && node.continues !== null ? 'clarification' : node.role;
  const member = node.member !== null && node.member !== node.agent ? safeLine(node.member) : null;
  const stands = node.place !== null && node.place.name !== node.agent ? `for ${safeLine(node.place.name)}` : member;
  const answers = root.finalRun === node.run && node.run !== root.run ? 'gives the answer' : null;
  const parts = [asked === null ? null : safeLine(asked), stands, answers].filter((part) => part !== null);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

interface Fact {
  readonly text: string;
  /** What goes first where there is no room: the lowest. What has none stays. */
  readonly rank?: number;
  /** The same in fewer signs. */
  readonly brief?: string;
}

const STATE_WIDTH_MIN = 8;
/** Of a word, with what says that it is cut. */
const LETTERS_MIN = 3;
const ON_YOU = 'waiting on you';
const WAITING = 'waiting';

interface Fitted {
  readonly text: string;
  /** The columns that are needed for all that has to be seen. */
  readonly least: number;
}

/** What it costs and how long it takes are seen on a narrow screen, too: first counts go, then the end of what it is doing. */
function fitted(facts: readonly Fact[], room: number): Fitted {
  const joined = (some: readonly Fact[]): string => some.map(({ text }) => text).join(' · ');
  let left = facts;
  for (const step of [1, 2, 'brief', 3]) {
    if (textWidth(joined(left)) <= room) return { text: joined(left), least: 0 };
    left = step === 'brief' ? left.map(({ brief, ...fact }) => ({ ...fact, text: brief ?? fact.text })) : left;
    left = left.filter((fact) => fact.rank !== step);
  }
  const [state, ...others] = left;
  const rest = others.length === 0 ? '' : ` · ${joined(others)}`;
  const stateRoom = room - textWidth(rest);
  const least = textWidth(rest) + Math.min(STATE_WIDTH_MIN, textWidth(state?.text ?? ''));
  if (state === undefined || stateRoom < 0) return { text: cutToWidth(joined(left), room), least };
  // The sign before its name says it, too.
  if (stateRoom < LETTERS_MIN) return { text: cutToWidth(joined(others), room), least };
  const short = state.text === ON_YOU && textWidth(WAITING) <= stateRoom ? WAITING : cutToWidth(state.text, stateRoom);
  return { text: `${short}${rest}`, least };
}

/** As much of what went wrong as there is room for; what the summary says of the whole is not said here, too. */
function withError(facts: string, { error }: RunNode, root: RunNode, room: number): string {
  const left = room - textWidth(facts) - 3;
  if (error === null || left < STATE_WIDTH_MIN || root.error?.message.includes(error.message) === true) return facts;
  return `${facts} · ${cutToWidth(safeLine(error.message), left)}`;
}

function factsOf(tree: RunTree, node: RunNode, look: TreeLook): readonly Fact[] {
  const { now, writing } = look;
  const facts: Fact[] = [{ text: stillState(tree, node, look) ?? stateText(node, now, writing?.get(node.run) ?? 0) }];
  // In which turn it is, while it works; what it came to, as in the summary, with everything below it.
  const { turns, toolCalls, spent } = subtreeDoings(tree, node.run);
  if (node.endedAt === null && node.turn > 0) facts.push({ text: `turn ${node.turn}`, rank: 3 });
  if (node.endedAt !== null && turns > 0) facts.push({ text: counted(turns, 'turn'), rank: 3 });
  if (toolCalls > 0) facts.push({ text: counted(toolCalls, 'tool'), rank: 1 });
  const tokens = spent.inputTokens + spent.outputTokens;
  if (tokens > 0) facts.push({ text: `${readableTokens(tokens, spent)} tokens`, rank: 2 });
  if (spent.calls > 0) {
    const cap = node.budget?.usd === undefined ? '' : ` of ${readableMoney(node.budget.usd * NANO_PER_USD)}`;
    facts.push({ text: `${readableCost(spent)}${cap}`, brief: `${briefCost(spent)}${cap}` });
  }
  const took = node.endedAt === null ? wholeSeconds(now - node.startedAt) : readableDuration(node.endedAt - node.startedAt);
  facts.push({ text: took });
  return facts;
}

/** The word of the summary, for one that would be doing something if somebody drove it, or answered. */
function stillState(tree: RunTree, node: RunNode, { standing }: TreeLook): 'interrupted' | 'waiting' | undefined {
  const stands = standing === undefined ? (onlyWaits(tree, node.run) ? 'waiting' : undefined) : standing(node);
  return stands === 'interrupted' || (stands === 'waiting' && node.waits.length === 0) ? stands : undefined;
}

function stateText(node: RunNode, now: number, written: number): string {
  const activity = activityOf(node, now);
  switch (activity.kind) {
    case 'ended':
      return endedText(node.state, node.verification);
    case 'waiting':
      return ON_YOU;
    case 'paused':
    case 'parked':
      return activity.kind;
    case 'working':
      return 'working';
    case 'asking':
      if (written > 0) return `writing, ${readableCount(written)} characters${since(activity.forMs)}`;
      return `${askedText(activity.model)}${attemptText(activity.attempt)}${since(activity.forMs)}`;
    case 'outage':
      // When comes first: what stands behind it is cut on a narrow screen.
      return `attempt ${activity.attempt} in ${wholeSeconds(activity.inMs)}, waiting for ${safeLine(activity.model)}`;
    case 'tools':
      return `running ${activity.names.map(safeLine).join(', ')}${since(activity.forMs)}`;
    default:
      return unreachable(activity);
  }
}

/** A model is asked; an executor works. */
const askedText = (model: string): string =>
  model.startsWith('executor:') ? `${safeLine(model.slice('executor:'.length))} works on it` : `asking ${safeLine(model)}`;

const briefCost = (cost: { readonly nanoUsd: number; readonly unknownCalls: number }): string =>
  cost.unknownCalls === 0 ? readableMoney(cost.nanoUsd) : cost.nanoUsd === 0 ? '$?' : `${readableMoney(cost.nanoUsd)}+?`;

const attemptText = (attempt: number): string => (attempt > 1 ? ` (attempt ${attempt})` : '');

/** Only whole seconds while something is under way, so that a picture changes when there is something to see. */
function wholeSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  return seconds < 60 ? `${seconds}s` : readableDuration(seconds * 1_000);
}

function since(milliseconds: number): string {
  return milliseconds < 1_000 ? '' : ` ${wholeSeconds(milliseconds)}`;
}

/** As it is shown, which is not always how it works. */
interface Shown extends Pick<RunNode, 'verification'> {
  readonly state: RunNode['state'] | 'interrupted';
}

function symbolOf(node: Shown, paint: Screen['paint']): string {
  switch (node.state) {
    case 'completed':
      return node.verification?.state === 'verified' ? paint.green('✓') : paint.dim('○');
    case 'completed_unverified':
      return paint.yellow('~');
    case 'failed':
    case 'budget_exhausted':
      return paint.red('✗');
    case 'cancelled':
      return paint.yellow('✗');
    case 'waiting':
      return paint.yellow('?');
    case 'paused':
    case 'parked':
    case 'interrupted':
      return paint.yellow('‖');
    case 'running':
      return paint.cyan('●');
    default:
      return unreachable(node.state);
  }
}
