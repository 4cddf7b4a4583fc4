/**
 * Rules of other tools in our own form. Theirs are decided in other ways: Claude Code has every deny go before every allow, and
 * opencode the last rule that fits. What comes out here is never laxer than what they would do.
 */
import { fitsText } from '../../permissions/glob.ts';
import { hostPatternProblem, hostWithin, pathPatternProblem, pathWithin } from '../../permissions/place-rules.ts';
import { type Permission, type Rule, type RuleMap, stricter } from '../../permissions/rule-map.ts';
import { shellPatternProblem, shellWithin } from '../../permissions/shell-rules.ts';
import type { FrontmatterPermissions } from './foreign.ts';
import type { WrittenRule } from './written-rule.ts';

/** One rule of theirs, about one of our tools. */
export interface ForeignRule {
  readonly tool: string;
  /** In our form; every call without one. */
  readonly pattern?: string | undefined;
  readonly permission: Permission;
  /** As it stands there, and where. */
  readonly written?: WrittenRule | undefined;
}

/** These do nothing that would have to be asked for. */
const READING: readonly string[] = ['read', 'list', 'search'];

/** Whether a rule of ours can say it. */
export function canSay(tool: string, pattern: string): boolean {
  const problem = tool === 'shell' ? shellPatternProblem : tool === 'fetch' ? hostPatternProblem : pathPatternProblem;
  return problem(pattern) === undefined;
}

/** Whatever `narrow` fits, `wide` fits too. */
function isWithin(tool: string, narrow: string, wide: string): boolean {
  if (wide === '*' || narrow === wide) return true;
  return tool === 'shell' ? shellWithin(narrow, wide) : tool === 'fetch' ? hostWithin(narrow, wide) : pathWithin(narrow, wide);
}

/** Whether one name stands for the other tool as well: a server for its tools, and a star for any signs. */
export function coversTool(wide: string, narrow: string): boolean {
  if (wide === narrow || narrow.startsWith(`${wide}/`)) return true;
  return wide.startsWith('mcp:') && wide.includes('*') && fitsText(wide, narrow);
}

const isStricter = (left: Permission, right: Permission): boolean => left !== right && stricter(left, right) === left;

/** With every deny before every ask before every allow. What the map says of a tool holds where no rule fits. */
export function withRules(base: FrontmatterPermissions, rules: readonly ForeignRule[]): FrontmatterPermissions {
  const result = { ...base };
  const isOverruled = (one: ForeignRule): boolean =>
    rules.some(
      ({ tool, permission }) => tool !== one.tool && isStricter(permission, one.permission) && coversTool(tool, one.tool),
    );
  for (const tool of new Set(rules.map((rule) => rule.tool))) {
    const own = rules.filter((rule) => rule.tool === tool && !isOverruled(rule));
    if (own.length > 0) result[tool] = merged(tool, base[tool], own);
  }
  return result;
}

function merged(tool: string, base: Rule | undefined, rules: readonly ForeignRule[]): Rule {
  const words = rules.flatMap(({ pattern, permission }) => (pattern === undefined ? [permission] : []));
  const whole = words.length === 0 ? undefined : words.reduce(stricter);
  if (whole === 'deny' || base === 'deny') return 'deny';
  const rest = whole ?? (typeof base === 'string' ? base : READING.includes(tool) ? 'allow' : 'ask');
  const map: Record<string, Permission> = {};
  for (const { pattern, permission } of rules) {
    if (pattern === undefined) continue;
    const isOverruled = rules.some(
      (one) => isStricter(one.permission, permission) && isWithin(tool, pattern, one.pattern ?? '*'),
    );
    if (!isOverruled) map[pattern] = stricter(map[pattern] ?? permission, permission);
  }
  if (Object.keys(map).length === 0) return rest;
  return { ...map, '*': stricter(map['*'] ?? rest, rest) };
}

/** The stricter of the two, call for call. */
export function bothHold(rule: Rule, word: Permission): Rule {
  if (typeof rule === 'string') return stricter(rule, word);
  return Object.fromEntries(Object.entries(rule).map(([pattern, permission]) => [pattern, stricter(permission, word)]));
}

/** With what asks because something was not understood; `*` stands for all tools. */
export function heldBack(
  permissions: FrontmatterPermissions,
  tools: readonly string[],
  held: ReadonlySet<string>,
): FrontmatterPermissions {
  const names = [...new Set([...tools, ...Object.keys(permissions)])].filter((name) => held.has('*') || held.has(name));
  return { ...permissions, ...Object.fromEntries(names.map((name) => [name, bothHold(permissions[name] ?? 'ask', 'ask')])) };
}

/** Where the last rule that fits decides: what a later one covers whole has no effect. What no rule fits is decided by `rest`. */
export function lastDecides(
  tool: string,
  entries: readonly (readonly [string, Permission])[],
  rest: Permission = READING.includes(tool) ? 'allow' : 'ask',
): RuleMap {
  return {
    '*': rest,
    ...Object.fromEntries(
      entries.filter(([pattern], index) => !entries.slice(index + 1).some(([later]) => isWithin(tool, pattern, later))),
    ),
  };
}
