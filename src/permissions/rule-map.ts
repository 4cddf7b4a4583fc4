/** A map from patterns to `allow`, `ask` or `deny`, and which of the rules that fit decides. */

/** Whether an agent may use a tool. */
export type Permission = 'allow' | 'ask' | 'deny';

/** Rules for the calls of one tool, by what they are about. */
export type RuleMap = Readonly<Record<string, Permission>>;

/** What may stand behind the name of a tool: one word for every call of it, or rules. */
export type Rule = Permission | RuleMap;

const STRICTNESS: Readonly<Record<Permission, number>> = { allow: 0, ask: 1, deny: 2 };

export const stricter = (left: Permission, right: Permission): Permission =>
  STRICTNESS[left] >= STRICTNESS[right] ? left : right;

export const EVERYTHING = '*';

export interface Fitting {
  readonly pattern: string;
  readonly permission: Permission;
}

/**
 * Of the rules that fit, a narrower one goes before a wider one: one that fits nothing that the other does not fit. Where neither
 * of two is narrower, the stricter counts. What no rule fits asks.
 */
export function chosen(fitting: readonly Fitting[], isWithin: (narrow: string, wide: string) => boolean): Fitting | undefined {
  const left = fitting.filter(
    ({ pattern }) =>
      !fitting.some(
        (other) => other.pattern !== pattern && isWithin(other.pattern, pattern) && !isWithin(pattern, other.pattern),
      ),
  );
  return left.reduce<Fitting | undefined>(
    (found, one) => (found === undefined || STRICTNESS[one.permission] > STRICTNESS[found.permission] ? one : found),
    undefined,
  );
}

/** What a rule says of all calls together: `deny` only where nothing else is possible. */
export function wholeOf(rule: Rule): Permission {
  if (typeof rule === 'string') return rule;
  const words = Object.values(rule);
  return rule[EVERYTHING] === 'deny' && words.every((word) => word === 'deny') ? 'deny' : 'ask';
}
