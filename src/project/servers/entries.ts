/** What the files of other tools say about MCP servers, in one form. Names that stand for something stay as they are. */
import type { Path } from '../../agents/text/yaml-map.ts';
import { nearest } from '../../base/did-you-mean.ts';
import { present } from '../../base/present.ts';
import { fitsText } from '../../permissions/glob.ts';
import type { FileStyle } from './fill.ts';

/** As it is written. */
export type WrittenServer =
  | {
      readonly kind: 'command';
      readonly words: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | { readonly kind: 'address'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface ForeignEntry {
  readonly name: string;
  /** Where it stands in the file. */
  readonly path: Path;
  /** Without it the entry says nothing that could be started, and `problem` says why. */
  readonly written?: WrittenServer | undefined;
  readonly problem?: string | undefined;
  /** It says nothing at all that could be started, here or elsewhere. */
  readonly isEmpty?: boolean | undefined;
  /** Its own tool does not start it either. */
  readonly off: boolean;
  readonly odd: readonly OddKey[];
}

/** A key that nobody reads, and the one that was probably meant. */
export interface OddKey {
  readonly key: string;
  readonly meant: string;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Every server that a file of this style names. */
export function entriesIn(style: FileStyle, file: Fields): readonly ForeignEntry[] {
  const [map, path] = serversAt(style, file);
  if (!isFields(map)) return [];
  return Object.entries(map).map(([name, value]) => entryOf(style, name, value, [...path, name]));
}

function serversAt(style: FileStyle, file: Fields): readonly [servers: unknown, path: Path] {
  if (style !== 'opencode') return [file[SERVERS_KEY[style]], [SERVERS_KEY[style]]];
  const mcp = file[SERVERS_KEY.opencode];
  // The second version of its settings has a floor more; a server of this name would say what it is.
  const inner = isFields(mcp) ? mcp['servers'] : undefined;
  return isFields(inner) && !Object.hasOwn(inner, 'type') ? [inner, ['mcp', 'servers']] : [mcp, ['mcp']];
}

const SERVERS_KEY = { claude: 'mcpServers', vscode: 'servers', opencode: 'mcp' } as const satisfies Record<FileStyle, string>;

/** The key under which the servers of a file were meant to stand, where none of them is read. */
export function oddServersKey(style: FileStyle, file: Fields): OddKey | undefined {
  const meant = SERVERS_KEY[style];
  if (Object.hasOwn(file, meant)) return undefined;
  const key = Object.keys(file).find(
    (one) => isFields(file[one]) && (OTHERS_KEYS.has(one) || nearest(one, [meant]) !== undefined),
  );
  return key === undefined ? undefined : { key, meant };
}

/** As the files of other tools have it. */
const OTHERS_KEYS: ReadonlySet<string> = new Set(['mcpServers', 'mcp_servers', 'servers']);

/** What is read of an entry, and what is not but has a meaning for its own tool. */
const READ: Readonly<Record<FileStyle, readonly string[]>> = {
  claude: ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'enabled', 'disabled'],
  vscode: ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'enabled', 'disabled', 'dev'],
  opencode: ['type', 'command', 'environment', 'cwd', 'url', 'headers', 'enabled', 'disabled'],
};

/** Words of other tools and short ones, which no distance of letters leads to what is meant. */
const SAME: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  env: 'environment',
  environment: 'env',
  uri: 'url',
  serverUrl: 'url',
  httpUrl: 'url',
};

/** Other tools have keys of their own: only one that looks like one that is read is a slip. */
function oddKeys(style: FileStyle, fields: Fields): readonly OddKey[] {
  const read = READ[style];
  return Object.keys(fields).flatMap((key) => {
    if (read.includes(key) || Object.hasOwn(NOT_DONE, key)) return [];
    const same = Object.hasOwn(SAME, key) ? SAME[key] : undefined;
    const meant = same !== undefined && read.includes(same) ? same : nearest(key, read);
    return meant === undefined || Object.hasOwn(fields, meant) ? [] : [{ key, meant }];
  });
}

/** They would make something else of the entry than what is started here. */
const NOT_DONE: Readonly<Record<string, string>> = {
  envFile: 'variables of an `envFile` are not read',
  headersHelper: 'a `headersHelper` is not run',
  sandboxEnabled: 'there is no sandbox for servers',
  sandbox: 'there is no sandbox for servers',
};

function entryOf(style: FileStyle, name: string, value: unknown, path: Path): ForeignEntry {
  if (!isFields(value)) return { name, path, off: false, odd: [], problem: 'it is not a map of keys and values', isEmpty: true };
  const off = value['enabled'] === false || value['disabled'] === true;
  const entry = { name, path, off, odd: oddKeys(style, value) };
  if (name === '' || name.includes('/')) return { ...entry, problem: 'agents cannot name it: no `/`, and not empty' };
  const notDone = Object.keys(value).find((key) => Object.hasOwn(NOT_DONE, key) && value[key] !== false && value[key] !== null);
  if (notDone !== undefined) return { ...entry, ...present({ problem: NOT_DONE[notDone] }) };
  const written = writtenIn(style, value);
  return typeof written === 'string' ? { ...entry, problem: written, isEmpty: written === NOTHING } : { ...entry, written };
}

const NOTHING = 'it has neither a `command` with its words nor a `url`';

/** The entry, or what is wrong with it. */
function writtenIn(style: FileStyle, fields: Fields): WrittenServer | string {
  const { type, url } = fields;
  if (type === 'sse' || type === 'ws') return `\`type: ${type}\` is not spoken here; Streamable HTTP and stdio are`;
  if (url !== undefined) {
    const headers = textsAt(fields, 'headers');
    if (!isText(url)) return '`url` is no text';
    return headers === undefined ? '`headers` is not a map of texts' : { kind: 'address', url, headers };
  }
  const words = style === 'opencode' ? fields['command'] : [fields['command'], ...argsIn(fields)];
  if (!isTexts(words) || !isText(words[0])) return NOTHING;
  const env = textsAt(fields, style === 'opencode' ? 'environment' : 'env');
  if (env === undefined) return 'its variables are not a map of texts';
  const { cwd } = fields;
  if (cwd !== undefined && !isText(cwd)) return '`cwd` is no text';
  return { kind: 'command', words, env, cwd };
}

const argsIn = ({ args }: Fields): readonly unknown[] => (args === undefined ? [] : Array.isArray(args) ? args : [args]);

/** Numbers and yes or no are taken as they are written; `null` takes a variable away that was never there. */
function textsAt(fields: Fields, key: string): Readonly<Record<string, string>> | undefined {
  const map = fields[key] ?? {};
  if (!isFields(map)) return undefined;
  const pairs = Object.entries(map).filter(([, value]) => value !== null);
  if (pairs.some(([, value]) => !['string', 'number', 'boolean'].includes(typeof value))) return undefined;
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
}

/** Whether the settings of Claude Code keep a server of `.mcp.json` from starting. What they enable is for Claude Code alone. */
export function isTurnedOff(settings: Fields, { name, written }: ForeignEntry): boolean {
  const disabled = settings['disabledMcpjsonServers'];
  if (isTexts(disabled) && disabled.includes(name)) return true;
  const denied: unknown = settings['deniedMcpServers'];
  if (!Array.isArray(denied)) return false;
  return denied.filter(isFields).some(({ serverName, serverCommand, serverUrl }) => {
    if (serverName === name) return true;
    if (written?.kind === 'command') return isTexts(serverCommand) && serverCommand.join('\0') === written.words.join('\0');
    return isText(serverUrl) && written !== undefined && fitsText(serverUrl, written.url);
  });
}
