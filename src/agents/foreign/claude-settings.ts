/**
 * `permissions` of `.claude/settings.json` and `.claude/settings.local.json`, for every agent of `.claude`. There a deny of one
 * file is a deny, whatever the other one allows.
 */
import { nearest } from '../../base/did-you-mean.ts';
import { isJsonObject } from '../../base/json.ts';
import { fitsText } from '../../permissions/glob.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import { BUILT_IN_TOOLS } from '../definition/tool-names.ts';
import { type Diagnostic, quote, type SourcePlace, warningAt } from '../text/diagnostics.ts';
import { parseJsonText } from '../text/json-text.ts';
import { claudeRuleParts, meantTool, readClaudeRule } from './claude-rules.ts';
import { ourTools, type SettingsText } from './foreign.ts';
import type { ForeignRule } from './foreign-rules.ts';

export interface SharedRules {
  readonly rules: readonly ForeignRule[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Other keys of the map. */
const KNOWN = ['defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode', 'disableAutoMode'];
const LISTS = ['allow', 'ask', 'deny'] as const;

export function readClaudeSettings(files: readonly SettingsText[]): SharedRules {
  return joined(files.map(readOne));
}

function readOne(settings: SettingsText): SharedRules {
  const { file } = settings;
  if (settings.text === undefined) return asksForAll({ file, line: 1, column: 1 }, `the file ${settings.problem}`);
  const parsed = parseJsonText(file, settings.text);
  if (!parsed.ok) {
    const [first] = parsed.error;
    return asksForAll(first ?? { file, line: 1, column: 1 }, first?.message ?? 'broken JSON');
  }
  const { value, placeOf } = parsed.value;
  const misspelled = misspelledIn(value, ['permissions'], (key) => placeOf([key], 'key'));
  const permissions = value['permissions'] ?? {};
  if (!isJsonObject(permissions)) return asksForAll(placeOf(['permissions']), '"permissions" is not a map of lists');
  const found = LISTS.map((permission) => {
    const list = permissions[permission] ?? [];
    const place = (...at: readonly number[]) => placeOf(['permissions', permission, ...at]);
    if (!Array.isArray(list)) return asksForAll(place(), `"${permission}" is not a list of rules`, permission);
    return joined(list.map((written: unknown, index) => entry(written, permission, place(index))));
  });
  const unheard = misspelledIn(permissions, LISTS, (key) => placeOf(['permissions', key], 'key'));
  return joined([...found, misspelled, unheard]);
}

/** A key that is none and was probably meant to be one of these. */
function misspelledIn(
  map: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  place: (key: string) => SourcePlace,
): SharedRules {
  const others = Object.keys(map).filter((key) => !keys.includes(key) && !KNOWN.includes(key));
  return joined(
    others.flatMap((key) => {
      const near = nearest(key, keys);
      if (near === undefined) return [];
      const list = near === 'allow' ? 'allow' : 'deny';
      return [asksForAll(place(key), `unknown key ${quote(key)}`, list, `Did you mean "${near}"?`)];
    }),
  );
}

const joined = (all: readonly SharedRules[]): SharedRules => ({
  rules: all.flatMap(({ rules }) => rules),
  diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
});

function entry(written: unknown, permission: Permission, place: SourcePlace): SharedRules {
  if (typeof written !== 'string') return asksForAll(place, 'a rule is not a text', permission);
  const read = readClaudeRule(written, permission);
  if (read.kind === 'rules')
    return { rules: read.rules.map((rule) => ({ ...rule, written: { word: written, place } })), diagnostics: [] };
  if (read.kind === 'none') return unknownTool(written, permission, place);
  const message = `the rule of ${quote(written)} is not kept; the tool asks first instead`;
  // What should be held back and cannot be told apart: all of it asks.
  const rules = permission === 'allow' ? [] : read.tools.map((tool) => ({ tool, permission: 'ask' as const }));
  return { rules, diagnostics: [warningAt(place, message)] };
}

function unknownTool(written: string, permission: Permission, place: SourcePlace): SharedRules {
  const { name } = claudeRuleParts(written);
  const near = meantTool(name);
  if (near === undefined) return { rules: [], diagnostics: [] };
  const rules = permission === 'allow' ? [] : ourTools(near).map((tool) => ({ tool, permission: 'ask' as const }));
  return { rules, diagnostics: [warningAt(place, `unknown tool ${quote(name)}`, `Did you mean "${near}"?`)] };
}

/** Nobody knows what should have been held back: everything asks. */
function asksForAll(place: SourcePlace, problem: string, list: Permission = 'deny', fix?: string): SharedRules {
  const message = `${problem}; ${list === 'allow' ? 'it allows nothing' : 'every tool of the agents beside it asks first'}`;
  const rules = list === 'allow' ? [] : [...BUILT_IN_TOOLS, 'mcp:*'].map((tool) => ({ tool, permission: 'ask' as const }));
  return { rules, diagnostics: [warningAt(place, message, fix)] };
}

/** Commands that show files. There a rule that holds a file back counts for them, too. */
const FILE_COMMANDS = ['cat', 'head', 'tail', 'sed', 'less', 'more', 'nl', 'tac', 'grep', 'egrep', 'fgrep', 'rg', 'awk', 'sort'];

/** Rules for command lines know no files: a command that could show one that is held back asks, where it would be allowed. */
export function forFileCommands(rules: readonly ForeignRule[]): readonly ForeignRule[] {
  const isHeld = rules.some(({ tool, permission }) => permission !== 'allow' && ['read', 'edit'].includes(tool));
  const allowed = rules.filter(({ tool, permission }) => tool === 'shell' && permission === 'allow');
  if (!isHeld || allowed.length === 0) return [];
  return FILE_COMMANDS.flatMap((command) =>
    allowed.some(({ pattern = '*' }) => fitsText(pattern, `${command} x`) || pattern.startsWith(`${command} `))
      ? [{ tool: 'shell', pattern: `${command} *`, permission: 'ask' as const }]
      : [],
  );
}
