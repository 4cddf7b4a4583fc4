/**
 * Whether an agent may make a call: `allow`, `ask` (the user approves it) or `deny`. Within one map the most exact name decides,
 * and behind it one word or the rules for what the call is about; between the maps of the agent, the project and the user the
 * stricter answer wins; where none speaks, the default holds. What somebody has said "always" to answers what would be asked.
 */

import { isJsonObject, type Json } from '../base/json.ts';
import { fitsText } from '../permissions/glob.ts';
import { decideHost, decidePath } from '../permissions/place-rules.ts';
import { PATH_TOOLS, type RememberedRule } from '../permissions/remembered-rule.ts';
import { chosen, type Permission, type Rule, type RuleMap, stricter, wholeOf } from '../permissions/rule-map.ts';
import { decideLine } from '../permissions/shell-rules.ts';
import { whyAsked } from '../permissions/why-asked.ts';
import type { OrdinaryTool } from './port.ts';
import type { ProtectedKind } from './protected-names.ts';

export type Permissions = Readonly<Record<string, Rule>>;
/** What decides about a tool. */
export type PermissionSubject = Pick<OrdinaryTool, 'name' | 'replay' | 'readOnly' | 'origin'>;

/** One call of it. */
export interface PermissionCall {
  readonly input: Json;
  /** The real path that it is about, relative to the workspace. */
  readonly path?: string | undefined;
  readonly remembered?: readonly RememberedRule[] | undefined;
}

/** `write` and `edit` are allowed because they cannot leave the workspace. */
const DEFAULTS: ReadonlyMap<string, Permission> = new Map([
  ['read', 'allow'],
  ['list', 'allow'],
  ['search', 'allow'],
  ['plan', 'allow'],
  ['ask', 'allow'],
  ['fetch', 'allow'],
  ['write', 'allow'],
  ['edit', 'allow'],
  ['shell', 'ask'],
]);

/** Without a call: what holds for all calls together, and `deny` only if none can be allowed. */
export function decide(
  tool: PermissionSubject,
  agent: Permissions = {},
  owners: readonly Permissions[] = [],
  call?: PermissionCall,
): Permission {
  const rules = rulesOf(tool, agent, owners);
  const sources = rules.length === 0 ? [defaultPermission(tool)] : rules;
  if (call === undefined) return sources.map(wholeOf).reduce(stricter);
  const own = (call.remembered ?? []).filter((rule) => rule.tool === tool.name);
  const recalled = own.some(({ pattern }) => pattern === undefined) ? 'allow' : mapOf(own);
  const answer = tool.origin === undefined ? answerFor(tool.name, call) : undefined;
  if (answer === 'line') return decideLine(commandIn(call.input) ?? '', sources, recalled);
  const said = sources.map((rule) => judged(rule, answer)).reduce(stricter);
  return said === 'ask' && judged(recalled, answer) === 'allow' ? 'allow' : said;
}

/** Of a command that is asked about: why a rule that looks as if it allowed it does not, and what to write. */
export function reasonToAsk(
  tool: PermissionSubject,
  agent: Permissions = {},
  owners: readonly Permissions[] = [],
  input: Json = null,
): string | undefined {
  const command = tool.origin === undefined && tool.name === 'shell' ? commandIn(input) : undefined;
  return command === undefined ? undefined : whyAsked(command, rulesOf(tool, agent, owners));
}

/** Rules, and the file in which they stand. */
export interface RuleSource {
  readonly permissions: Permissions;
  readonly file: string;
}

/** The rule that denies a call, as it stands in its file: the first that does. */
export function deniedBy(tool: PermissionSubject, sources: readonly RuleSource[], call: PermissionCall): string | undefined {
  const denies = (permissions: Permissions): boolean => decide(tool, permissions, [], { ...call, remembered: [] }) === 'deny';
  const source = sources.find(({ permissions }) => denies(permissions));
  if (source === undefined) return undefined;
  const rule = lookUp(source.permissions, tool) ?? 'deny';
  const named = (pattern: string | undefined): string =>
    `${tool.name}${pattern === undefined ? '' : ` ${JSON.stringify(pattern)}`}: deny (${source.file})`;
  if (typeof rule === 'string') return named(undefined);
  const fitting = Object.keys(rule).filter(
    (pattern) => rule[pattern] === 'deny' && denies({ [tool.name]: { [pattern]: 'deny' } }),
  );
  // Of several the one without which it would be asked about.
  const isWanting = (left: string): boolean =>
    !denies({ [tool.name]: Object.fromEntries(Object.entries(rule).filter(([pattern]) => pattern !== left)) });
  return named(fitting.find(isWanting) ?? fitting[0]);
}

/** What each map says of the tool. */
const rulesOf = (tool: PermissionSubject, agent: Permissions, owners: readonly Permissions[]): readonly Rule[] =>
  [agent, ...owners].map((one) => lookUp(one, tool)).filter((rule) => rule !== undefined);

type Answer = ((rules: RuleMap) => Permission) | undefined;

/** How rules are held against a call of this tool; nothing for one whose calls cannot be told apart. */
function answerFor(name: string, { input, path }: PermissionCall): Answer | 'line' {
  if (name === 'shell') return commandIn(input) === undefined ? undefined : 'line';
  if (name === 'fetch') return (rules) => decideHost(textIn(input, 'url') ?? '', rules);
  // A path that leads nowhere is the tool's to refuse.
  if (PATH_TOOLS.includes(name) && path !== undefined) return (rules) => decidePath(path, rules);
  return undefined;
}

const judged = (rule: Rule, answer: Answer): Permission =>
  typeof rule === 'string' ? rule : answer === undefined ? wholeOf(rule) : answer(rule);

const commandIn = (input: Json): string | undefined => textIn(input, 'command');

function textIn(input: Json, key: string): string | undefined {
  const found = isJsonObject(input) ? input[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}

const mapOf = (rules: readonly RememberedRule[]): RuleMap =>
  Object.fromEntries(rules.flatMap(({ pattern }) => (pattern === undefined ? [] : [[pattern, 'allow'] as const])));

/**
 * Built-ins by name. An MCP tool is allowed when it only reads: being safe to repeat is not enough, deleting twice is that
 * too. Anything else goes by whether it may be repeated.
 */
export function defaultPermission({ name, replay, readOnly, origin }: PermissionSubject): Permission {
  if (origin !== undefined) return readOnly === true ? 'allow' : 'ask';
  return DEFAULTS.get(name) ?? (replay === 'safe' ? 'allow' : 'ask');
}

/** The most exact name first; of patterns for the tools of a server, the narrowest. */
function lookUp(permissions: Permissions, { name, origin }: PermissionSubject): Rule | undefined {
  const named = (key: string): Rule | undefined => (Object.hasOwn(permissions, key) ? permissions[key] : undefined);
  if (origin === undefined) return named(name) ?? named('*');
  const server = `mcp:${origin.server}`;
  const patterns = Object.entries(permissions).flatMap(([pattern, rule]) =>
    pattern.startsWith(`${server}/`) && pattern.includes('*') && fitsText(pattern, `${server}/${origin.tool}`)
      ? [{ pattern, permission: wholeOf(rule) }]
      : [],
  );
  const fitting = chosen(patterns, (narrow, wide) => fitsText(wide, narrow))?.permission;
  return named(`${server}/${origin.tool}`) ?? named(name) ?? fitting ?? named(server) ?? named('*');
}

/**
 * Whether an agent may change what is protected. Both must say so by name, settings of an owner and the agent's own file: a file
 * cannot give itself the right, and one agent that needs it does not open the door for all.
 */
export function decideProtected(
  protection: ProtectedKind,
  agent: Permissions = {},
  owners: readonly Permissions[] = [],
): Permission {
  const said = (one: Permissions): Rule | undefined => one[`protected:${protection}`] ?? one['protected'];
  const owned = owners.map(said).filter((rule) => rule !== undefined);
  return [said(agent) ?? 'deny', ...(owned.length === 0 ? (['deny'] as const) : owned)].map(wholeOf).reduce(stricter);
}

/**
 * Whether a result may bring this file to light: a hit shows what is in it, so `read` has to be allowed; a name shows less, so it
 * must not be denied. Tools that look at many files go by their own rules, too; of others a call was allowed by these already.
 * Only rules by path count: one word is about calls of a tool, not about files.
 */
export function decideShown(
  tool: string,
  path: string,
  maps: readonly Permissions[],
  remembered: readonly RememberedRule[] = [],
): boolean {
  const verdicts = (tool === 'search' || tool === 'list' ? ['read', tool] : ['read']).map((name): Permission => {
    const rules = maps.flatMap((one) => {
      const rule = Object.hasOwn(one, name) ? one[name] : undefined;
      return rule === undefined || typeof rule === 'string' ? [] : [rule];
    });
    const said = rules.map((rule) => decidePath(path, rule)).reduce(stricter, 'allow');
    return said === 'ask' && isRemembered(remembered, name, path) ? 'allow' : said;
  });
  const verdict = verdicts.reduce(stricter);
  return tool === 'list' ? verdict !== 'deny' : verdict === 'allow';
}

/** Whether somebody has said "always" to exactly this. */
export function isRemembered(rules: readonly RememberedRule[], name: string, path: string | undefined): boolean {
  return rules.some(({ tool, pattern }) => tool === name && (pattern === undefined || pattern === path));
}
