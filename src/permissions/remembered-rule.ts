/**
 * What "always" remembers: not a tool, but the rule that allows this one call again. It is shown before anybody chooses it, and
 * it never fits more than what it says: the same command line, the same file, the same host.
 */
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';

/** One line of a permission map that says `allow`. */
export interface RememberedRule {
  /** The tool as models call it: `shell`, `write`, `server__tool`. */
  readonly tool: string;
  /** What of it: a command, a path, a host. Without one every call of the tool, which has nothing that could be told apart. */
  readonly pattern?: string | undefined;
}

/** Tools whose rules are about the path that they are given. */
export const PATH_TOOLS: readonly string[] = ['read', 'write', 'edit', 'list', 'search'];
/** Tools that can have a map of rules in place of one word. */
export const RULED_TOOLS: readonly string[] = ['shell', 'fetch', ...PATH_TOOLS];

/** In front of a line that is meant as it stands, to the letter. */
export const EXACT = '= ';
/** Every sign in it stands for itself, in a shell as in a rule. */
const PLAIN = /^[A-Za-z0-9_@%+:,./-]+(?: [A-Za-z0-9_@%+:,./=-]+)*$/;

/**
 * The rule that "always" would write for this call; `undefined` when there is none, so that the call can only be approved once.
 * `path` is the real path of the file, relative to the workspace, where it is known.
 */
export function ruleFor(tool: string, input: Json, path?: string | undefined): RememberedRule | undefined {
  if (!RULED_TOOLS.includes(tool) && !tool.startsWith('protected:')) return { tool };
  const given = isJsonObject(input) ? input : {};
  const pattern = tool === 'shell' ? linePattern(given['command']) : tool === 'fetch' ? hostOf(given['url']) : path;
  if (pattern === undefined || pattern === '' || pattern.length > limits.ruleCharacters) return undefined;
  // A star in a name of a file would be one of the rule.
  if (tool !== 'shell' && pattern.includes('*')) return undefined;
  return { tool, pattern };
}

function linePattern(command: Json | undefined): string | undefined {
  if (typeof command !== 'string') return undefined;
  return PLAIN.test(command) ? command : EXACT + command;
}

/** The host of an address in the one form that is compared, with its port where that is not the usual one. */
export function hostOf(address: Json | undefined): string | undefined {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return undefined;
  const name = url.hostname.replace(/\.$/, '');
  return url.port === '' ? name : `${name}:${url.port}`;
}

/** As it would stand in a file: `shell "npm test"`. Text of an agent: make it visible before it is shown. */
export function ruleText({ tool, pattern }: RememberedRule): string {
  return pattern === undefined ? tool : `${tool} ${JSON.stringify(pattern)}`;
}

/** One line that `readRule` understands; a tool's name has no blank in it. */
export const writtenRule = ({ tool, pattern }: RememberedRule): string => (pattern === undefined ? tool : `${tool} ${pattern}`);

export function readRule(written: string): RememberedRule {
  const blank = written.indexOf(' ');
  return blank < 0 ? { tool: written } : { tool: written.slice(0, blank), pattern: written.slice(blank + 1) };
}
