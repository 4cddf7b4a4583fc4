/**
 * MCP servers that the project's files for other tools declare. Reading them starts nothing: what is started, and whether a
 * person has allowed it, is decided in `declared-servers.ts`.
 */
import { join } from 'node:path';
import { type Diagnostic, quote, type SourcePlace, warningAt } from '../../agents/text/diagnostics.ts';
import { parseJsonText } from '../../agents/text/json-text.ts';
import { readText } from '../../agents/text/read-text.ts';
import type { YamlMap } from '../../agents/text/yaml-map.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { isSecretVariable } from '../../base/secrets/redact.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import { entriesIn, type ForeignEntry, isTurnedOff, oddServersKey, type WrittenServer } from './entries.ts';
import { type FileStyle, type FilledText, type FillFrom, fill } from './fill.ts';
import { CLAUDE_SETTINGS, FOREIGN_FILES } from './foreign-files.ts';

export type ForeignServer = {
  readonly name: string;
  readonly place: SourcePlace;
  /** Who has the same name and counts before it. */
  readonly shadowedBy?: string | undefined;
} & (
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'sound';
      /** The command line or the address with its variables filled in; everything else as it is written. */
      readonly declared: McpServerConfig;
      /** For a person: where a secret would stand, its name does. */
      readonly shown: McpServerConfig;
      /** The variables of the environment that it gets. */
      readonly takes: readonly string[];
      /** With every value in it. */
      started(): McpServerConfig;
    }
);

export interface ForeignServers {
  /** Those that count before those that are shadowed by them. */
  readonly servers: readonly ForeignServer[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ReadFile {
  readonly file: string;
  readonly style: FileStyle;
  readonly map: YamlMap;
}

/** `settings` are the names that the settings have servers for. */
export async function readForeignServers(around: FillFrom, settings: readonly string[]): Promise<ForeignServers> {
  const diagnostics: Diagnostic[] = [];
  const files: ReadFile[] = [];
  for (const { file, style } of FOREIGN_FILES) {
    const map = await readMap(around.root, file, diagnostics);
    if (map !== undefined) files.push({ file, style, map });
  }
  const claude = files.filter(({ file }) => CLAUDE_SETTINGS.includes(file));
  const counted = new Map(settings.map((name) => [name, 'the settings']));
  const servers: ForeignServer[] = [];
  for (const { file, style, map } of files) {
    const odd = oddServersKey(style, map.value);
    if (odd !== undefined)
      diagnostics.push(
        warningAt(
          map.placeOf([odd.key], 'key'),
          `no MCP servers are read from ${quote(odd.key)}`,
          `Did you mean "${odd.meant}"?`,
        ),
      );
    for (const entry of entriesIn(style, map.value)) {
      const place = map.placeOf(entry.path, 'key');
      if (servers.length === limits.foreignServers) {
        diagnostics.push(
          warningAt(
            place,
            `more than ${limits.foreignServers} servers (limit foreignServers)`,
            'This one and those after it are left out.',
          ),
        );
        return { servers, diagnostics };
      }
      const off = claude.find(({ map: { value } }) => style === 'claude' && isTurnedOff(value, entry))?.file;
      const server = {
        name: entry.name,
        ...judge(style, entry, off, around),
        place,
        ...present({ shadowedBy: counted.get(entry.name) }),
      };
      if (off === undefined && !counted.has(entry.name)) diagnostics.push(...slips(entry, map));
      if (!counted.has(entry.name)) counted.set(entry.name, file);
      servers.push(server);
    }
  }
  return { servers, diagnostics };
}

/** What is wrong with an entry for whoever wrote it: of a server that no agent names nobody would hear it otherwise. */
function slips({ name, path, off, odd, problem, isEmpty }: ForeignEntry, { placeOf }: YamlMap): readonly Diagnostic[] {
  if (off) return [];
  const keys = odd.map(({ key, meant }) =>
    warningAt(
      placeOf([...path, key], 'key'),
      `unknown key ${quote(key)} in the MCP server ${quote(name)}`,
      `Did you mean "${meant}"?`,
    ),
  );
  if (keys.length > 0 || isEmpty !== true || problem === undefined) return keys;
  return [warningAt(placeOf(path, 'key'), `the MCP server ${quote(name)} is not started: ${problem}`)];
}

async function readMap(root: string, file: string, diagnostics: Diagnostic[]): Promise<YamlMap | undefined> {
  const text = await readText(join(root, file));
  const left = 'The MCP servers in it are not known here.';
  if (!text.ok) {
    // Most projects have none of these files.
    if (text.error.message !== 'does not exist')
      diagnostics.push(warningAt({ file, line: 1, column: 1 }, `this file ${text.error.message}`, left));
    return undefined;
  }
  const parsed = parseJsonText(file, text.value);
  if (parsed.ok) return parsed.value;
  for (const { line, column, message, fix } of parsed.error)
    diagnostics.push(warningAt({ file, line, column }, `${message}; the MCP servers in it are not known here`, fix));
  return undefined;
}

type Judged =
  | { readonly kind: 'refused'; readonly reason: string }
  | Pick<Extract<ForeignServer, { kind: 'sound' }>, 'kind' | 'declared' | 'shown' | 'takes' | 'started'>;

/** `off` is the file that turns it off. */
function judge(
  style: FileStyle,
  { written, problem, off: isOff }: ForeignEntry,
  off: string | undefined,
  around: FillFrom,
): Judged {
  if (off !== undefined || isOff)
    return { kind: 'refused', reason: off === undefined ? 'it is turned off there' : `${off} turns it off` };
  if (written === undefined) return { kind: 'refused', reason: problem ?? 'nothing in it can be started' };
  const every = filled(style, written, around, () => false);
  if (every.problem !== undefined) return { kind: 'refused', reason: every.problem };
  const started = every.config;
  if ('url' in started && !/^https?:\/\/[^/]/.test(started.url)) return { kind: 'refused', reason: '`url` is no http address' };
  return {
    kind: 'sound',
    declared: withTexts(started, written),
    shown: withTexts(filled(style, written, around, isSecretVariable).config, written),
    takes: every.takes,
    started: () => filled(style, written, around, () => false).config,
  };
}

/** Its variables and headers as the file has them: what they are filled with is nobody's business but the server's. */
function withTexts(config: McpServerConfig, written: WrittenServer): McpServerConfig {
  if ('url' in config) return { ...config, headers: written.kind === 'address' ? written.headers : {} };
  return { ...config, env: written.kind === 'command' ? written.env : {} };
}

interface FilledEntry {
  readonly config: McpServerConfig;
  readonly takes: readonly string[];
  readonly problem?: string | undefined;
}

function filled(
  style: FileStyle,
  written: WrittenServer,
  around: FillFrom,
  hide: (name: string, value: string) => boolean,
): FilledEntry {
  const all: FilledText[] = [];
  const text = (one: string): string => {
    const outcome = fill(style, one, around, hide);
    all.push(outcome);
    return outcome.text;
  };
  const texts = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, text(value)]));
  const config = configOf(written, text, texts);
  const takes = [...new Set(all.flatMap(({ taken }) => taken))];
  return { config, takes, problem: all.find(({ problem }) => problem !== undefined)?.problem };
}

function configOf(
  written: WrittenServer,
  text: (one: string) => string,
  texts: (map: Readonly<Record<string, string>>) => Record<string, string>,
): McpServerConfig {
  if (written.kind === 'address') return { url: text(written.url), headers: texts(written.headers) };
  const [command = '', ...args] = written.words.map(text);
  return { command, args, env: texts(written.env), ...(written.cwd === undefined ? {} : { cwd: text(written.cwd) }) };
}
