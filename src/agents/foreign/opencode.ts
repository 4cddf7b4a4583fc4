/**
 * `.opencode/agents/*.md`, the agent files of opencode. Tools are on unless `tools` says false; `permission` says how they may be
 * used, and what writes, runs or reaches out asks first where it says nothing.
 */

import { nearest } from '../../base/did-you-mean.ts';
import { isJsonObject } from '../../base/json.ts';
import { wholeOf } from '../../permissions/rule-map.ts';
import { BUILT_IN_TOOLS } from '../definition/tool-names.ts';
import { quote } from '../text/diagnostics.ts';
import {
  askFor,
  compact,
  description,
  type ForeignReader,
  type FrontmatterPermissions,
  foreignReader,
  ourTools,
  type Translate,
} from './foreign.ts';
import { bothHold, choiceOf, readOpencodeRule } from './opencode-rules.ts';

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
  const enabled = new Set(BUILT_IN_TOOLS);
  // The last that fits decides there, and a name may have stars.
  for (const [name, on] of Object.entries(value)) {
    const named = name === '*' ? BUILT_IN_TOOLS : ourTools(name);
    if (typeof on !== 'boolean') reader.warn(['tools', name], `${quote(name)} is ignored: it must be true or false`);
    else if (named.length === 0) noteUnknown(reader, ['tools', name], name, on);
    else if (on) for (const tool of named) enabled.add(tool);
    else for (const tool of named) enabled.delete(tool);
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

function permissions(reader: ForeignReader, tools: readonly string[]): FrontmatterPermissions {
  const value = reader.raw('permission') ?? {};
  const asking = askFor(tools);
  if (!isJsonObject(value)) {
    const word = choiceOf(value);
    if (word !== undefined) return Object.fromEntries(tools.map((tool) => [tool, word]));
    reader.warn(['permission'], '"permission" is ignored: it must be a map from tools to ask, allow or deny');
    return asking;
  }
  const result: FrontmatterPermissions = {};
  for (const [name, written] of Object.entries(value)) {
    const named = name === '*' ? tools : ourTools(name);
    const rule = readOpencodeRule(name, named[0], written, (pattern) => {
      reader.warn(['permission', name, pattern], `the rule of ${quote(pattern)} is not kept; the tool asks first instead`);
    });
    if (rule === undefined) reader.warn(['permission', name], `${quote(name)} is ignored: it must be ask, allow or deny`);
    else if (named.length === 0) noteUnknown(reader, ['permission', name], name, rule !== 'deny' && !THEIRS.includes(name));
    // One word there covers everything that changes files.
    else
      for (const tool of named.includes('edit') ? [...named, 'write'] : named) {
        // The last that fits decides there; what a name said before one with a star may be stricter, and stays that.
        const before = name.includes('*') ? result[tool] : undefined;
        if (tools.includes(tool)) result[tool] = before === undefined ? rule : bothHold(before, wholeOf(rule));
      }
  }
  return { ...asking, ...result };
}
