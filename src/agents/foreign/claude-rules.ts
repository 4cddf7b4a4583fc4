/**
 * The rules of Claude Code: `Bash(git diff:*)`, `Read(src/**)`, `WebFetch(domain:example.org)`, `mcp__github__*`, in the lists
 * of agent files and in its settings.
 */
import { nearest } from '../../base/did-you-mean.ts';
import { present } from '../../base/present.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import { ourTool, ourTools } from './foreign.ts';
import { canSay, type ForeignRule } from './foreign-rules.ts';

/** Real tools of Claude Code that have no counterpart here. */
const THEIRS = [
  'Task',
  'Agent',
  'WebSearch',
  'BashOutput',
  'KillShell',
  'KillBash',
  'NotebookEdit',
  'Skill',
  'SlashCommand',
  'ExitPlanMode',
];
const OURS = ['Read', 'Write', 'Edit', 'MultiEdit', 'Glob', 'LS', 'Grep', 'Bash', 'WebFetch', 'TodoWrite', 'AskUserQuestion'];

/** What was probably meant by a name that is none; nothing for a real tool that has no counterpart. */
export const meantTool = (name: string): string | undefined => (THEIRS.includes(name) ? undefined : nearest(name, OURS));

export type ReadRule =
  | { readonly kind: 'rules'; readonly rules: readonly ForeignRule[] }
  /** A tool that has no counterpart here. */
  | { readonly kind: 'none' }
  /** The tool is known, and what is said of it cannot be said here. */
  | { readonly kind: 'unsaid'; readonly tools: readonly string[] };

/** One entry of a list, for what the list is about. */
export function readClaudeRule(written: string, permission: Permission): ReadRule {
  const { name, inside, isWhole } = claudeRuleParts(written);
  const mcp = /^mcp__(.+?)(?:__(.+))?$/.exec(name);
  if (mcp?.[1] !== undefined) {
    const tool = mcp[2] === undefined || mcp[2] === '*' ? `mcp:${mcp[1]}` : `mcp:${mcp[1]}/${mcp[2]}`;
    return { kind: 'rules', rules: [{ tool, permission }] };
  }
  const tools = toolsOf(name, permission);
  const [tool] = tools;
  if (tool === undefined) return { kind: 'none' };
  if (inside === undefined || (isWhole && (inside === '' || inside === '*'))) return said(tools, undefined, permission);
  const pattern = name.includes('*') || !isWhole ? undefined : patternOf(tool, inside, permission);
  return pattern === undefined || !canSay(tool, pattern) ? { kind: 'unsaid', tools } : said(tools, pattern, permission);
}

/** `Read(src/**)`: its name and what stands inside. Not whole is one with a bracket that is never closed. */
export function claudeRuleParts(written: string): { readonly name: string; readonly inside?: string; readonly isWhole: boolean } {
  const rule = written.trim();
  const open = rule.indexOf('(');
  if (open < 0) return { name: rule, isWhole: true };
  const name = rule.slice(0, open).trim();
  if (!rule.endsWith(')')) return { name, inside: rule.slice(open + 1), isWhole: false };
  const inside = rule.slice(open + 1, -1);
  // A command line may have a bracket in a text.
  return { name, inside, isWhole: ourTool(name) === 'shell' || isBalanced(inside) };
}

export const isBalanced = (text: string): boolean => text.split('(').length === text.split(')').length;

const said = (tools: readonly string[], pattern: string | undefined, permission: Permission): ReadRule => ({
  kind: 'rules',
  rules: tools.map((tool) => ({ tool, ...present({ pattern }), permission })),
});

/** There one word is for all that changes files, and one for all that reads them; a star is for tools that are held back. */
function toolsOf(name: string, permission: Permission): readonly string[] {
  if (name.includes('*')) {
    if (permission === 'allow') return [];
    return [...ourTools(name), ...(name === '*' ? ['mcp:*'] : [])];
  }
  const tool = ourTool(name);
  if (tool === undefined) return [];
  if (tool === 'edit') return ['edit', 'write'];
  if (permission === 'allow') return [tool];
  return tool === 'write' ? ['write', 'edit'] : tool === 'read' ? ['read', 'search'] : [tool];
}

function patternOf(tool: string, inside: string, permission: Permission): string | undefined {
  if (tool === 'shell') return inside.endsWith(':*') ? `${inside.slice(0, -2)} *` : inside;
  if (tool === 'fetch') return /^domain:(.+)$/.exec(inside)?.[1];
  return pathOf(inside.trimEnd(), permission === 'allow');
}

/**
 * As in a .gitignore: a name without a folder is meant wherever it is, and whatever fits a folder fits all that is in it. Whoever
 * allows is taken at their word.
 */
function pathOf(written: string, isAllowed: boolean): string | undefined {
  // `//` is the root of the machine, `/` that of the project; `!` takes something back.
  if (/^(?:\/\/|~|!)/.test(written)) return undefined;
  const path = written.replace(/^\.?\//, '').replace(/\/$/, '');
  if (isAllowed) return written.endsWith('/') ? `${path}/*/**` : path;
  const isAnywhere = !path.includes('/') && !written.startsWith('/');
  const below = path === '**' || path.endsWith('/**') ? path : `${path}/**`;
  return isAnywhere && path !== '**' ? `**/${below}` : below;
}
