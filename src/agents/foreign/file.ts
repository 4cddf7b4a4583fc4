/** Reads an agent file of another tool; on its own, so that a run of Troupe's own agents need not load any of this. */

import { nameFromFile } from '../definition/agent-name.ts';
import { type NamedRight, rightsIn } from '../definition/tool-names.ts';
import { literalPrompt } from '../definition/variables.ts';
import { type Diagnostic, warningAt } from '../text/diagnostics.ts';
import type { FileSpans } from '../text/frontmatter.ts';
import { readLeniently } from '../text/lenient-frontmatter.ts';
import type { SourceText } from '../text/source-text.ts';
import { parseYamlMap, type YamlMap } from '../text/yaml-map.ts';
import { translateClaude } from './claude.ts';
import type { SettingsText, Translate, Translation } from './foreign.ts';
import { translateOpencode } from './opencode.ts';

export type ForeignOrigin = 'claude' | 'opencode';

export interface ForeignFile extends Pick<Translation, 'frontmatter' | 'disabled' | 'diagnostics' | 'serverRights'> {
  readonly map: YamlMap;
  readonly prompt: string;
  readonly ruleFile: RuleFile;
}

/** The file in which one of the agent's rules stands: its own, or settings of the tool. */
export type RuleFile = (right: NamedRight) => string;

/** Where each tool says what holds for all its agents in a project. */
export const SETTINGS_OF: Readonly<Record<ForeignOrigin, readonly string[]>> = {
  claude: ['.claude/settings.json', '.claude/settings.local.json'],
  opencode: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
};

const TRANSLATIONS: Readonly<Record<ForeignOrigin, Translate>> = { claude: translateClaude, opencode: translateOpencode };

/** What it does not share with ours is a warning, and its prompt stays as it is: no includes, no variables. */
export function readForeignFile(
  origin: ForeignOrigin,
  source: SourceText,
  spans: FileSpans,
  settings: readonly SettingsText[],
): ForeignFile {
  const { map, warnings } = readMap(source, spans);
  const read = (these: readonly SettingsText[]): Translation =>
    TRANSLATIONS[origin](map.value, map.placeOf, these, nameFromFile(source.file));
  const { frontmatter, prompt = '', disabled, diagnostics, serverRights } = read(settings);
  const body = source.text.slice(spans.body.start, spans.body.end).replaceAll('\r\n', '\n').trim();
  return {
    map,
    frontmatter,
    disabled,
    serverRights,
    prompt: literalPrompt(body === '' ? prompt : body),
    diagnostics: [...diagnostics, ...warnings],
    ruleFile: (right) => ruleFile(right, source.file, settings, read),
  };
}

/**
 * What comes out is made of all files together. What the agent's own gives by itself stands there; of anything else it is those
 * settings that give it alone, or else all of them.
 */
function ruleFile(
  right: NamedRight,
  own: string,
  settings: readonly SettingsText[],
  read: (settings: readonly SettingsText[]) => Translation,
): string {
  const gives = (these: readonly SettingsText[]): boolean =>
    rightsIn(read(these).frontmatter.permissions ?? {}).some((one) => isSameRight(one, right));
  if (gives([])) return own;
  const alone = settings.filter((one) => gives([one]));
  return (alone.length > 0 ? alone : settings).map(({ file }) => file).join(', ');
}

/** A word for all calls is the same as a star. */
const isSameRight = (one: NamedRight, other: NamedRight): boolean =>
  one.name === other.name && one.permission === other.permission && (one.pattern ?? '*') === (other.pattern ?? '*');

function readMap(source: SourceText, spans: FileSpans): { readonly map: YamlMap; readonly warnings: readonly Diagnostic[] } {
  const map = parseYamlMap(source, spans.frontmatter);
  if (map.ok) return { map: map.value, warnings: [] };
  const [first] = map.error;
  const place = first ?? source.placeAt(spans.frontmatter.start);
  const message = `the frontmatter is not valid YAML and was read line by line (${first?.message ?? 'unreadable'})`;
  return { map: readLeniently(source, spans.frontmatter), warnings: [warningAt(place, message)] };
}
