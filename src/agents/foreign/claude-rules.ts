/**
 * The rules of Claude Code: `Bash(git diff:*)`, `Read(src/**)`, `WebFetch(domain:example.org)`, `mcp__github__*`, in the lists
 * of agent files and in `.claude/settings.json`.
 */
import { isJsonObject, parseJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import { ourTool } from './foreign.ts';
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
  const tool = ourTool(name);
  if (tool === undefined) return { kind: 'none' };
  const tools = toolsOf(tool, permission);
  if (inside === undefined || inside === '' || inside === '*') return said(tools, undefined, permission);
  const pattern = patternOf(tool, inside, permission);
  return pattern === undefined || !canSay(tool, pattern) ? { kind: 'unsaid', tools } : said(tools, pattern, permission);
}

const said = (tools: readonly string[], pattern: string | undefined, permission: Permission): ReadRule => ({
  kind: 'rules',
  rules: tools.map((tool) => ({ tool, ...present({ pattern }), permission })),
});

/** There one word is for all that changes files, and one for all that reads them. */
function toolsOf(tool: string, permission: Permission): readonly string[] {
  if (tool === 'edit') return ['edit', 'write'];
  return tool === 'read' && permission !== 'allow' ? ['read', 'search'] : [tool];
}

function patternOf(tool: string, inside: string, permission: Permission): string | undefined {
  if (tool === 'shell') return inside.endsWith(':*') ? `${inside.slice(0, -2)} *` : inside;
  if (tool === 'fetch') return /^domain:(.+)$/.exec(inside)?.[1];
  // `//` is the root of the machine, `/` that of the project.
  if (inside.startsWith('//') || inside.startsWith('~')) return undefined;
  const path = inside.replace(/^\.?\//, '');
  // A name without a folder is meant wherever it is, as in a .gitignore; whoever allows is taken at their word.
  return permission !== 'allow' && !path.includes('/') ? `**/${path}` : path;
}

/** `permissions` of a settings file: its lists, or nothing when it has none. */
export function readClaudeSettings(text: string): { readonly rules: readonly ForeignRule[]; readonly unsaid: readonly string[] } {
  const parsed = parseJson(text);
  const settings = parsed.ok && isJsonObject(parsed.value) ? parsed.value['permissions'] : undefined;
  const rules: ForeignRule[] = [];
  const unsaid: string[] = [];
  for (const permission of ['allow', 'ask', 'deny'] as const) {
    const list = isJsonObject(settings) ? settings[permission] : undefined;
    for (const written of Array.isArray(list) ? list : []) {
      const read = typeof written === 'string' ? readClaudeRule(written, permission) : { kind: 'none' as const };
      if (read.kind === 'rules') rules.push(...read.rules);
      if (read.kind !== 'unsaid') continue;
      unsaid.push(String(written));
      // What should be held back and cannot be told apart: all of it asks.
      if (permission !== 'allow') rules.push(...read.tools.map((tool) => ({ tool, permission: 'ask' as const })));
    }
  }
  return { rules, unsaid };
}
