/**
 * `.opencode/agents/*.md`, the agent files of opencode. Tools are on unless `tools` says false; `permission` says how they may be
 * used, and what writes, runs or reaches out asks first where it says nothing.
 */

import { nearest } from '../../base/did-you-mean.ts';
import { isJsonObject } from '../../base/json.ts';
import { RULED_TOOLS } from '../../permissions/remembered-rule.ts';
import type { Rule } from '../../permissions/rule-map.ts';
import { BUILT_IN_TOOLS } from '../definition/tool-names.ts';
import { quote } from '../text/diagnostics.ts';
import {
  askFor,
  compact,
  description,
  type ForeignReader,
  type FrontmatterPermissions,
  foreignReader,
  ourTool,
  type Translate,
} from './foreign.ts';
import { canSay, lastDecides } from './foreign-rules.ts';

const UNSUPPORTED = ['variant', 'options', 'reasoningEffort', 'textVerbosity', 'permissions', 'skills'];
const DECORATION = ['mode', 'color', 'hidden', 'native', 'builtIn'];
/** Real tools and permissions of opencode without a counterpart here: switching them off needs no word. */
const THEIRS = ['task', 'skill', 'websearch', 'codesearch', 'lsp', 'doom_loop', 'external_directory', 'batch'];

export const translateOpencode: Translate = (value, placeOf) => {
  const reader = foreignReader(value, placeOf);
  const tools = enabledTools(reader);
  const model = reader.text('model')?.trim();
  const frontmatter = compact({
    name: reader.text('name'),
    description: description(reader),
    model: model === '' ? undefined : model,
    tools,
    permissions: permissions(reader, tools),
    temperature: reader.number('temperature', 0, 2),
    topP: reader.number('top_p', 0, 1),
    maxTurns: reader.count('steps') ?? reader.count('maxSteps'),
  });
  const prompt = reader.text('prompt');
  if (prompt?.trim().startsWith('{file:')) {
    reader.warn(['prompt'], 'a prompt from another file is not read', 'Write the prompt below the frontmatter.');
  }
  const off = [reader.flag('disable'), reader.flag('disabled')];
  reader.finish('opencode', UNSUPPORTED, DECORATION);
  return { frontmatter, prompt, disabled: off.includes(true), diagnostics: reader.diagnostics };
};

function enabledTools(reader: ForeignReader): string[] {
  const value = reader.raw('tools') ?? {};
  if (!isJsonObject(value)) {
    reader.warn(['tools'], '"tools" is ignored: it must be a map from tools to true or false');
    return [...BUILT_IN_TOOLS];
  }
  const enabled = new Set(value['*'] === false ? [] : BUILT_IN_TOOLS);
  for (const [name, on] of Object.entries(value)) {
    if (name === '*') continue;
    const tool = ourTool(name);
    if (typeof on !== 'boolean') reader.warn(['tools', name], `${quote(name)} is ignored: it must be true or false`);
    else if (tool === undefined) noteUnknown(reader, ['tools', name], name, on);
    else if (on) enabled.add(tool);
    else enabled.delete(tool);
  }
  return [...enabled];
}

function noteUnknown(reader: ForeignReader, path: readonly string[], name: string, wanted: boolean): void {
  const theirs = THEIRS.includes(name) || name.includes('*');
  if (theirs && !wanted) return;
  const near = theirs
    ? undefined
    : nearest(name, ['read', 'write', 'edit', 'list', 'glob', 'grep', 'bash', 'webfetch', 'todowrite']);
  const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
  reader.warn(path, `the tool ${quote(name)} has no counterpart here and is left out`, fix, 'key');
}

const CHOICES = ['ask', 'allow', 'deny'] as const;
type Choice = (typeof CHOICES)[number];

function permissions(reader: ForeignReader, tools: readonly string[]): FrontmatterPermissions {
  const value = reader.raw('permission') ?? {};
  const result: FrontmatterPermissions = { ...askFor(tools) };
  const set = (tool: string, rule: Rule): void => {
    if (tools.includes(tool)) result[tool] = rule;
  };
  const whole = choiceOf(isJsonObject(value) ? value['*'] : value);
  if (whole !== undefined) for (const tool of tools) set(tool, whole);
  if (!isJsonObject(value)) {
    if (whole === undefined)
      reader.warn(['permission'], '"permission" is ignored: it must be a map from tools to ask, allow or deny');
    return result;
  }
  for (const [name, rule] of Object.entries(value)) {
    if (name === '*') continue;
    const tool = ourTool(name);
    const said = ruleOf(tool, rule);
    if (said === undefined) reader.warn(['permission', name], `${quote(name)} is ignored: it must be ask, allow or deny`);
    else if (tool === undefined) noteUnknown(reader, ['permission', name], name, said !== 'deny' && !THEIRS.includes(name));
    else set(tool, said);
    // One word there covers everything that changes files.
    if (tool === 'edit' && said !== undefined) set('write', said);
  }
  return result;
}

/** Rules by pattern are kept where ours can say all of them; otherwise the tool asks, unless every rule denies. */
function ruleOf(tool: string | undefined, rule: unknown): Rule | undefined {
  const choice = choiceOf(rule);
  if (!isJsonObject(rule) || choice === undefined || tool === undefined || !RULED_TOOLS.includes(tool)) return choice;
  const entries = Object.entries(rule).flatMap(([pattern, word]) => {
    const permission = choiceOf(word);
    return permission === undefined ? [] : [[ourPattern(tool, pattern, permission), permission] as const];
  });
  if (entries.some(([pattern]) => !canSay(tool, pattern))) return choice === 'deny' ? 'deny' : 'ask';
  return lastDecides(tool, Object.fromEntries(entries));
}

/** A star there goes over folders as well. */
function ourPattern(tool: string, pattern: string, permission: Choice): string {
  if (tool === 'shell' || tool === 'fetch' || pattern === '*') return pattern;
  const below = pattern.replace(/\/\*$/, '/**');
  return permission !== 'allow' && below.startsWith('*') && !below.startsWith('**') ? `**/${below}` : below;
}

function choiceOf(rule: unknown): Choice | undefined {
  if (!isJsonObject(rule)) return CHOICES.find((choice) => choice === rule);
  const choices = new Set(Object.values(rule).map(choiceOf));
  if (choices.size === 0 || choices.has(undefined)) return undefined;
  return choices.size === 1 ? [...choices][0] : 'ask';
}
