/**
 * Rules of other tools in our own form. Theirs are decided in other ways: Claude Code has every deny go before every allow, and
 * opencode the last rule that fits. What comes out here is never laxer than what they would do.
 */
import { hostPatternProblem, pathPatternProblem, pathWithin } from '../../permissions/place-rules.ts';
import { type Permission, type Rule, type RuleMap, stricter } from '../../permissions/rule-map.ts';
import { shellPatternProblem, shellWithin } from '../../permissions/shell-rules.ts';
import type { FrontmatterPermissions } from './foreign.ts';

/** One rule of theirs, about one of our tools. */
export interface ForeignRule {
  readonly tool: string;
  /** In our form; every call without one. */
  readonly pattern?: string | undefined;
  readonly permission: Permission;
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
  return tool === 'shell' ? shellWithin(narrow, wide) : tool === 'fetch' ? wide.startsWith('*.') : pathWithin(narrow, wide);
}

/** With every rule that asks or denies before every one that allows. What the map says of a tool holds where no rule fits. */
export function withRules(base: FrontmatterPermissions, rules: readonly ForeignRule[]): FrontmatterPermissions {
  const result = { ...base };
  for (const tool of new Set(rules.map((rule) => rule.tool))) {
    const own = rules.filter((rule) => rule.tool === tool);
    result[tool] = merged(tool, base[tool], own);
  }
  return result;
}

function merged(tool: string, base: Rule | undefined, rules: readonly ForeignRule[]): Rule {
  const words = rules.flatMap(({ pattern, permission }) => (pattern === undefined ? [permission] : []));
  const whole = words.length === 0 ? undefined : words.reduce(stricter);
  if (whole === 'deny' || base === 'deny') return 'deny';
  const rest = whole ?? (typeof base === 'string' ? base : READING.includes(tool) ? 'allow' : 'ask');
  const strict = rules.filter(({ permission }) => permission !== 'allow');
  const map: Record<string, Permission> = {};
  for (const { pattern, permission } of rules) {
    if (pattern === undefined) continue;
    const isOverruled = permission === 'allow' && strict.some((one) => isWithin(tool, pattern, one.pattern ?? '*'));
    if (!isOverruled) map[pattern] = stricter(map[pattern] ?? permission, permission);
  }
  if (Object.keys(map).length === 0) return rest;
  return { ...map, '*': stricter(map['*'] ?? rest, rest) };
}

/** Where the last rule that fits decides: what a later one covers whole has no effect. */
export function lastDecides(tool: string, rules: RuleMap): RuleMap {
  const entries = Object.entries(rules);
  return Object.fromEntries(
    entries.filter(([pattern], index) => !entries.slice(index + 1).some(([later]) => isWithin(tool, pattern, later))),
  );
}
