/**
 * The rules of Claude Code: `Bash(git diff:*)`, `Read(src/**)`, `WebFetch(domain:example.org)`, `mcp__github__*`, in the lists
 * of agent files and in its settings.
 */
import { present } from '../../base/present.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import { ourTool, ourTools } from './foreign.ts';
import { canSay, type ForeignRule } from './foreign-rules.ts';

export type ReadRule =
  | { readonly kind: 'rules'; readonly rules: readonly ForeignRule[] }
  /** A tool that has no counterpart here. */
  | { readonly kind: 'none' }
  /** The tool is known, and what is said of it cannot be said here. */
  | { readonly kind: 'unsaid'; readonly tools: readonly string[] };

/** One entry of a list, for what the list is about. */
export function readClaudeRule(written: string, permission: Permission): ReadRule {
  const [, name = '', inside] = /^([^(]*)(?:\((.*)\))?$/s.exec(written.trim()) ?? [];
  const mcp = /^mcp__(.+?)(?:__(.+))?$/.exec(name);
  if (mcp?.[1] !== undefined) {
    const tool = mcp[2] === undefined || mcp[2] === '*' ? `mcp:${mcp[1]}` : `mcp:${mcp[1]}/${mcp[2]}`;
    return { kind: 'rules', rules: [{ tool, permission }] };
  }
  const tools = toolsOf(name, permission);
  const [tool] = tools;
  if (tool === undefined) return { kind: 'none' };
  if (inside === undefined || inside === '' || inside === '*') return said(tools, undefined, permission);
  const pattern = name.includes('*') ? undefined : patternOf(tool, inside, permission);
  return pattern === undefined || !canSay(tool, pattern) ? { kind: 'unsaid', tools } : said(tools, pattern, permission);
}

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
