/**
 * `.claude/agents/*.md`, the agent files of Claude Code. Without `tools` such an agent has all of them, as there; what writes,
 * runs or reaches out asks first, whatever the file would like.
 */

import { nearest } from '../../base/did-you-mean.ts';
import { fitsText } from '../../permissions/glob.ts';
import { BUILT_IN_TOOLS, parseMcpReference } from '../definition/tool-names.ts';
import { quote } from '../text/diagnostics.ts';
import type { Path } from '../text/yaml-map.ts';
import { claudeRuleParts, isBalanced, meantTool, readClaudeRule } from './claude-rules.ts';
import { forFileCommands, readClaudeSettings } from './claude-settings.ts';
import {
  askFor,
  compact,
  description,
  type ForeignReader,
  type FrontmatterPermissions,
  foreignReader,
  ourTools,
  type Translate,
  withoutCounterpart,
} from './foreign.ts';
import { coversTool, type ForeignRule, heldBack, withRules } from './foreign-rules.ts';
import type { WrittenRight } from './written-rule.ts';

/** Its short names. Each is a model whose price is known by that very name: a budget in dollars must hold. */
export const claudeModels: Readonly<Record<string, string>> = {
  opus: 'anthropic/claude-opus-5-5',
  sonnet: 'anthropic/claude-sonnet-5',
  haiku: 'anthropic/claude-haiku-4-5',
};

const UNSUPPORTED = ['skills', 'mcpServers', 'hooks', 'memory', 'background', 'isolation', 'effort', 'initialPrompt', 'thinking'];
const DECORATION = ['color', 'version', 'author', 'license', 'category', 'tags', 'metadata'];
/** Keys that hold something back: one that was meant to be one of them and is not. */
const BANS = ['tools', 'disallowedTools', 'permissionMode'];

export const translateClaude: Translate = (value, placeOf, settings) => {
  const reader = foreignReader(value, placeOf);
  const listed = toolList(reader, 'tools', 'allow');
  const refused = toolList(reader, 'disallowedTools', 'deny') ?? [];
  const gone = refused.filter(({ rules }) => rules.every((rule) => rule.pattern === undefined && rule.permission === 'deny'));
  const named = listed?.map(({ tool }) => tool) ?? BUILT_IN_TOOLS;
  const tools = [...new Set(named)].filter((tool) => !gone.some((one) => coversTool(one.tool, tool)));
  const shared = readClaudeSettings(settings);
  const own = [...(listed ?? []), ...refused].flatMap((entry) => entry.rules);
  const all = [...own, ...shared.rules];
  const rules = rulesFor(tools, all).map(({ rule }) => rule);
  const said = {
    name: reader.text('name'),
    description: description(reader),
    model: model(reader),
    tools,
    maxTurns: reader.count('maxTurns'),
  };
  const allowed = withRules(permissions(reader, tools), [...rules, ...forFileCommands(rules)]);
  const disabled = reader.flag('disabled');
  reader.finish('Claude Code', { known: UNSUPPORTED, decoration: DECORATION, bans: BANS });
  const frontmatter = compact({ ...said, permissions: heldBack(allowed, tools, reader.held) });
  const diagnostics = [...reader.diagnostics, ...shared.diagnostics];
  return { frontmatter, disabled, diagnostics, serverRights: serverRights(tools, all) };
};

/** Those about tools that the agent has. A rule for servers with a star in their name is one for each that fits. */
function rulesFor(tools: readonly string[], rules: readonly ForeignRule[]): readonly MadeRule[] {
  const servers = [...new Set(tools.flatMap((tool) => parseMcpReference(tool)?.server ?? []))];
  return rules.flatMap((rule) => {
    const reference = parseMcpReference(rule.tool);
    if (reference === undefined) return tools.includes(rule.tool) ? [{ rule, of: rule.tool }] : [];
    const { server, tool } = reference;
    const isMeant = (one: string): boolean => one === server || (rule.permission !== 'allow' && fitsText(server, one));
    return servers.filter(isMeant).map((one) => {
      const made = { ...rule, tool: tool === undefined ? `mcp:${one}` : `mcp:${one}/${tool}` };
      return { rule: made, of: rule.tool };
    });
  });
}

/** A rule, and the name in which a star may have stood for its server. */
interface MadeRule {
  readonly rule: ForeignRule;
  readonly of: string;
}

/** A star within the name of a tool stays what it is: nobody has misspelled one. */
function serverRights(tools: readonly string[], rules: readonly ForeignRule[]): readonly WrittenRight[] {
  return rulesFor(tools, rules).flatMap(({ rule: { tool: right, written }, of }) => {
    const tool = parseMcpReference(right)?.tool;
    if (written === undefined || tool === undefined || tool.includes('*')) return [];
    return [{ right, ...written, isForMany: of.includes('*') }];
  });
}

/** `inherit`, or nothing, leaves the choice to the project. */
function model(reader: ForeignReader): string | undefined {
  const name = reader.text('model')?.trim();
  if (name === undefined || name === '' || name === 'inherit' || name === 'default') return undefined;
  const known = claudeModels[name.toLowerCase()];
  if (known !== undefined) return known;
  if (name.includes('/')) return name;
  if (name.startsWith('claude-')) return `anthropic/${name}`;
  const near = nearest(name, [...Object.keys(claudeModels), 'inherit']);
  reader.warn(['model'], `unknown model ${quote(name)}; the project's default is used`, near && `Did you mean "${near}"?`);
  return undefined;
}

/** One of a list of tools. */
interface ListedTool {
  readonly tool: string;
  /** What is said of some of its calls; a tool that is named whole is there to be used, and asks as ever. */
  readonly rules: readonly ForeignRule[];
}

/** `Read, Grep, Bash(git diff:*)` or a list. `undefined` when the key is absent. */
function toolList(reader: ForeignReader, key: string, permission: 'allow' | 'deny'): readonly ListedTool[] | undefined {
  const value = reader.raw(key);
  if (value === undefined || value === null) return undefined;
  const names = typeof value === 'string' ? splitList(value) : value;
  const holdAll = (path: Path, problem: string): void => reader.hold(['*'], path, `${problem}; every tool asks first`);
  if (!Array.isArray(names)) {
    holdAll([key], `"${key}" must be a list of tools`);
    return [];
  }
  if (typeof value === 'string' && !isBalanced(value)) holdAll([key], `"${key}" has a bracket that is not closed`);
  return names.flatMap((name: unknown, index) => {
    const path = typeof value === 'string' ? [key] : [key, index];
    if (typeof name === 'string') return translateTool(name.trim(), path, permission, reader);
    holdAll(path, 'the name of a tool must be a text');
    return [];
  });
}

/** Commas inside brackets belong to a tool's own rule. */
function splitList(text: string): readonly string[] {
  const parts = [''];
  for (const piece of text.split(',')) {
    const last = parts.at(-1) ?? '';
    if (last === '' || isBalanced(last)) parts.push(piece);
    else parts[parts.length - 1] = `${last},${piece}`;
  }
  return parts.map((one) => one.trim()).filter((one) => one !== '');
}

function translateTool(written: string, path: Path, permission: 'allow' | 'deny', reader: ForeignReader): readonly ListedTool[] {
  if (written === '*' && permission === 'allow') return BUILT_IN_TOOLS.map((tool) => ({ tool, rules: [] }));
  const read = readClaudeRule(written, permission);
  if (read.kind === 'rules') {
    const [first] = read.rules;
    if (first === undefined || first.pattern !== undefined)
      return first === undefined ? [] : [{ tool: first.tool, rules: read.rules }];
    // A tool that is named whole is itself meant, and not its like.
    const named = written.includes('*') ? read.rules : [first];
    const at = { word: written, place: reader.placeOf(path) };
    return named.map((rule) => ({ tool: rule.tool, rules: permission === 'allow' ? [] : [{ ...rule, written: at }] }));
  }
  if (read.kind === 'unsaid') {
    reader.warn(path, `the rule of ${quote(written)} is not kept; the tool asks first instead`);
    const rules = read.tools.map((tool) => ({ tool, permission: 'ask' as const }));
    return read.tools.slice(0, 1).map((tool) => ({ tool, rules }));
  }
  const { name } = claudeRuleParts(written);
  const near = meantTool(name);
  const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
  const held = near === undefined || permission === 'allow' ? [] : ourTools(near);
  reader.hold(held, path, withoutCounterpart(name, held), fix);
  return [];
}

function permissions(reader: ForeignReader, tools: readonly string[]): FrontmatterPermissions {
  const mode = reader.text('permissionMode') ?? 'default';
  const asking = askFor(tools);
  const set = (permission: 'allow' | 'deny', which: readonly string[]): FrontmatterPermissions =>
    Object.fromEntries(Object.entries(asking).map(([tool, ask]) => [tool, which.includes(tool) ? permission : ask]));
  switch (mode) {
    case 'default':
    case 'auto':
      return asking;
    case 'acceptEdits':
      return set('allow', ['write', 'edit']);
    case 'plan':
      return set('deny', ['write', 'edit', 'shell']);
    case 'dontAsk':
      return set('deny', Object.keys(asking));
    case 'bypassPermissions':
      reader.warn(['permissionMode'], 'a file may not switch permissions off; its tools ask first');
      return asking;
    default:
      reader.warn(['permissionMode'], `unknown permission mode ${quote(mode)}; its tools ask first`);
      return asking;
  }
}
