/** The run tree as lines of text: one line per run, never wider than the screen. Used live and for the last, still picture. */
import { unreachable } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { readableCost, readableCount, readableDuration, readableMoney } from '../projections/readable.ts';
import { activityOf, type RunNode, type RunTree, subtree, subtreeSpending, type ToolUse } from '../projections/run-tree.ts';
import { safeLine } from './safe-text.ts';
import type { Screen } from './terminal.ts';
import { cutToWidth, textWidth } from './text-width.ts';

export interface TreeLook {
  readonly now: number;
  readonly width: number;
  readonly paint: Screen['paint'];
}

const NANO_PER_USD = 1_000_000_000;

/** Few runs show many of their calls, many runs show few: the picture stays about as tall. */
const CALLS_SHOWN = 12;

export function treeLines(tree: RunTree, root: RunId, look: TreeLook): readonly string[] {
  const lines: string[] = [];
  const guides = new Map<RunId, { readonly own: string; readonly below: string }>([[root, { own: '', below: '' }]]);
  const nodes = subtree(tree, root);
  const callsEach = Math.floor(CALLS_SHOWN / Math.max(1, nodes.length));
  for (const node of nodes) {
    const guide = guides.get(node.run) ?? { own: '', below: '' };
    const calls = callsEach === 0 ? [] : node.recent.slice(-callsEach);
    lines.push(runLine(tree, node, guide.own, look));
    for (const [index, call] of calls.entries()) {
      const last = index === calls.length - 1 && node.children.length === 0;
      lines.push(callLine(call, `${guide.below}${last ? '└─ ' : '├─ '}`, look));
    }
    for (const [index, child] of node.children.entries()) {
      const last = index === node.children.length - 1;
      guides.set(child, { own: `${guide.below}${last ? '└─ ' : '├─ '}`, below: `${guide.below}${last ? '   ' : '│  '}` });
    }
  }
  return lines;
}

function callLine(call: ToolUse, guide: string, { paint, width }: TreeLook): string {
  const symbol = call.durationMs === null ? paint.cyan('●') : call.failed ? paint.red('✗') : paint.green('✓');
  const took = call.durationMs === null ? '' : ` · ${readableDuration(call.durationMs)}`;
  const text = `${safeLine(call.name)} ${safeLine(call.subject)}`.trim();
  return `${paint.dim(guide)}${symbol} ${cutToWidth(`${text}${took}`, Math.max(1, width - textWidth(guide) - 2))}`;
}

function runLine(tree: RunTree, node: RunNode, guide: string, look: TreeLook): string {
  const { paint, width } = look;
  const agent = safeLine(node.agent);
  const role = node.role === null ? '' : ` (${safeLine(node.role)})`;
  const head = cutToWidth(`${agent}${role}`, Math.max(1, width - textWidth(guide) - 2));
  const used = textWidth(guide) + 2 + textWidth(head) + 2;
  const facts = cutToWidth(factsOf(tree, node, look.now).join(' · '), Math.max(0, width - used));
  const tail = facts === '' ? '' : `  ${node.waits.length > 0 ? paint.yellow(facts) : paint.dim(facts)}`;
  return `${paint.dim(guide)}${symbolOf(node, paint)} ${paint.bold(head)}${tail}`;
}

function factsOf(tree: RunTree, node: RunNode, now: number): readonly string[] {
  const facts = [stateText(node, now)];
  if (node.turn > 0) facts.push(`turn ${node.turn}`);
  if (node.toolCalls > 0) facts.push(`${node.toolCalls} ${node.toolCalls === 1 ? 'tool' : 'tools'}`);
  const spent = subtreeSpending(tree, node.run);
  const tokens = spent.inputTokens + spent.outputTokens;
  if (tokens > 0) facts.push(`${readableCount(tokens)} tokens`);
  if (spent.calls > 0) {
    const cap = node.budget?.usd === undefined ? '' : ` of ${readableMoney(node.budget.usd * NANO_PER_USD)}`;
    facts.push(`${readableCost(spent)}${cap}`);
  }
  facts.push(node.endedAt === null ? wholeSeconds(now - node.startedAt) : readableDuration(node.endedAt - node.startedAt));
  if (node.error !== null) facts.push(safeLine(node.error.message));
  return facts;
}

function stateText(node: RunNode, now: number): string {
  const activity = activityOf(node, now);
  switch (activity.kind) {
    case 'ended':
      return node.state.replaceAll('_', ' ');
    case 'waiting':
      return 'waiting on you';
    case 'paused':
      return 'paused';
    case 'working':
      return 'working';
    case 'asking':
      return `asking ${safeLine(activity.model)}${activity.attempt > 1 ? ` (attempt ${activity.attempt})` : ''}${since(activity.forMs)}`;
    case 'tools':
      return `running ${activity.names.map(safeLine).join(', ')}${since(activity.forMs)}`;
    default:
      return unreachable(activity);
  }
}

/** Only whole seconds while something is under way, so that a picture changes when there is something to see. */
function wholeSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  return seconds < 60 ? `${seconds}s` : readableDuration(seconds * 1_000);
}

function since(milliseconds: number): string {
  return milliseconds < 1_000 ? '' : ` ${wholeSeconds(milliseconds)}`;
}

function symbolOf(node: RunNode, paint: Screen['paint']): string {
  switch (node.state) {
    case 'completed':
      return paint.green('✓');
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
      return paint.yellow('‖');
    case 'running':
      return paint.cyan('●');
    default:
      return unreachable(node.state);
  }
}
