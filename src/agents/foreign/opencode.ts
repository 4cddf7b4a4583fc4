/**
 * `.opencode/agents/*.md`, the agent files of opencode. Tools are on unless `tools` says false; `permission` says how they may be
 * used, and what writes, runs or reaches out asks first where it says nothing.
 */

import { nearest } from '../../base/did-you-mean.ts';
import { isJsonObject } from '../../base/json.ts';
import { fitsText } from '../../permissions/glob.ts';
import { type Permission, type Rule, stricter, wholeOf } from '../../permissions/rule-map.ts';
import { BUILT_IN_TOOLS } from '../definition/tool-names.ts';
import { quote } from '../text/diagnostics.ts';
import type { Path } from '../text/yaml-map.ts';
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
import { bothHold, heldBack } from './foreign-rules.ts';
import { type Layer, layersOf, onTop } from './opencode-layers.ts';
import { choiceOf, readOpencodeRule } from './opencode-rules.ts';

const UNSUPPORTED = ['variant', 'options', 'reasoningEffort', 'textVerbosity', 'permissions', 'skills'];
const DECORATION = ['mode', 'color', 'hidden', 'native', 'builtIn'];
/** Keys that hold something back: one that was meant to be one of them and is not. */
const BANS = ['permission', 'permissions', 'tools'];
/** Real tools and permissions of opencode without a counterpart here: switching them off needs no word. */
const THEIRS = ['task', 'skill', 'websearch', 'codesearch', 'lsp', 'doom_loop', 'external_directory', 'batch'];

export const translateOpencode: Translate = (value, placeOf, settings, name) => {
  const reader = foreignReader(value, placeOf);
  const own = { tools: reader.raw('tools'), permission: reader.raw('permission') };
  const layers = [...settings.flatMap((one) => layersOf(one, name)), { reader, path: [], value: own }];
  const tools = enabledTools(layers);
  const model = reader.text('model')?.trim();
  const said = {
    name: reader.text('name'),
    description: description(reader),
    model: model === '' ? undefined : model,
    tools,
    temperature: reader.number('temperature', 0, 2),
    topP: reader.number('top_p', 0, 1),
    maxTurns: reader.count('steps') ?? reader.count('maxSteps'),
  };
  const prompt = reader.text('prompt');
  if (prompt?.trim().startsWith('{file:')) {
    reader.warn(['prompt'], 'a prompt from another file is not read', 'Write the prompt below the frontmatter.');
  }
  const off = [reader.flag('disable'), reader.flag('disabled')];
  const allowed = permissions(layers, tools);
  reader.finish('opencode', { known: UNSUPPORTED, decoration: DECORATION, bans: BANS });
  const readers = [...new Set(layers.map((layer) => layer.reader))];
  const held = new Set(readers.flatMap((one) => [...one.held]));
  const frontmatter = compact({ ...said, permissions: heldBack(allowed, tools, held) });
  return { frontmatter, prompt, disabled: off.includes(true), diagnostics: readers.flatMap((one) => one.diagnostics) };
};

function enabledTools(layers: readonly Layer[]): string[] {
  const enabled = new Set(BUILT_IN_TOOLS);
  for (const { reader, path, value } of layers) {
    const tools = value['tools'] ?? {};
    if (!isJsonObject(tools)) {
      reader.hold(['*'], [...path, 'tools'], '"tools" must be a map from tools to true or false; every tool asks first');
      continue;
    }
    // The last that fits decides there, and a name may have stars.
    for (const [name, on] of Object.entries(tools)) {
      const at = [...path, 'tools', name];
      const named = name === '*' ? BUILT_IN_TOOLS : ourTools(name);
      if (typeof on !== 'boolean') reader.hold(named, at, `${quote(name)} must be true or false; until then it asks first`);
      else if (named.length === 0) noteUnknown(reader, at, name, on);
      else if (on) for (const tool of named) enabled.add(tool);
      else for (const tool of named) enabled.delete(tool);
    }
  }
  return [...enabled];
}

/** `wanted`: it should be there or be allowed; otherwise it should be held back, and so is what was probably meant. */
function noteUnknown(reader: ForeignReader, path: Path, name: string, wanted: boolean): void {
  const theirs = THEIRS.includes(name) || name.includes('*');
  if (theirs && !wanted) return;
  const near = theirs
    ? undefined
    : nearest(name, ['read', 'write', 'edit', 'list', 'glob', 'grep', 'bash', 'webfetch', 'todowrite']);
  const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
  const held = wanted || near === undefined ? [] : ourTools(near);
  reader.hold(held, path, withoutCounterpart(name, held), fix, 'key');
}

function permissions(layers: readonly Layer[], tools: readonly string[]): FrontmatterPermissions {
  const result: FrontmatterPermissions = {};
  /** What names with a star said, by tool; and what each other name said so far, in the order of the layers. */
  const words = new Map<string, Permission>();
  const written = new Map<string, unknown>();
  const set = (name: string, tool: string, rule: Rule): void => {
    const word = wholeOf(rule);
    // The last that fits decides there; what a name said before one with a star may be stricter, and stays that.
    const before = name.includes('*') ? result[tool] : undefined;
    if (name.includes('*')) words.set(tool, word);
    if (tools.includes(tool)) result[tool] = before === undefined ? rule : bothHold(before, word);
  };
  for (const { reader, path, value } of layers) {
    for (const [name, own] of Object.entries(rulesOf(reader, path, value['permission']))) {
      const at = [...path, 'permission', name];
      const named = name === '*' ? tools : ourTools(name);
      const whole = onTop(written.get(name), own);
      const rule = readOpencodeRule(name, named[0], whole, words.get(named[0] ?? ''), (pattern) => {
        if (!isJsonObject(own) || !Object.hasOwn(own, pattern)) return;
        reader.warn([...at, pattern], `the rule of ${quote(pattern)} is not kept; the tool asks first instead`);
      });
      // One word there covers everything that changes files.
      const covered = named.includes('edit') ? [...named, 'write'] : named;
      if (rule === undefined) reader.hold(covered, at, `${quote(name)} must be ask, allow or deny; until then it asks first`);
      else if (named.length === 0) noteUnknown(reader, at, name, rule !== 'deny' && !THEIRS.includes(name));
      else {
        if (!name.includes('*')) written.set(name, whole);
        else for (const [other, said] of written) if (isCovered(name, other)) written.set(other, held(said, wholeOf(rule)));
        for (const tool of covered) set(name, tool, rule);
      }
    }
  }
  return { ...askFor(tools), ...result };
}

const isCovered = (pattern: string, name: string): boolean => fitsText(pattern.toLowerCase(), name.toLowerCase());

/** What was said, and the word of a name with a star that came behind it. */
function held(said: unknown, word: Permission): unknown {
  if (!isJsonObject(said)) return stricter(choiceOf(said) ?? 'ask', word);
  return Object.fromEntries(Object.entries(said).map(([pattern, one]) => [pattern, stricter(choiceOf(one) ?? 'ask', word)]));
}

/** One word is for everything. */
function rulesOf(reader: ForeignReader, path: Path, value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  if (choiceOf(value) !== undefined) return { '*': value };
  const message = '"permission" must be a map from tools to ask, allow or deny; every tool asks first';
  reader.hold(['*'], [...path, 'permission'], message);
  return {};
}
