/**
 * The rules of opencode: `{ "*": ask, "git diff*": allow }`, of which the last that fits decides. A star there stands for any
 * signs, a stroke between two folders among them.
 */
import { isJsonObject } from '../../base/json.ts';
import { RULED_TOOLS } from '../../permissions/remembered-rule.ts';
import type { Permission, Rule } from '../../permissions/rule-map.ts';
import { bothHold, canSay, lastDecides } from './foreign-rules.ts';

const CHOICES = ['ask', 'allow', 'deny'] as const;

/** One word for all of it; `ask` where words differ. */
export function choiceOf(rule: unknown): Permission | undefined {
  if (!isJsonObject(rule)) return CHOICES.find((choice) => choice === rule);
  const choices = new Set(Object.values(rule).map(choiceOf));
  if (choices.size === 0 || choices.has(undefined)) return undefined;
  return choices.size === 1 ? [...choices][0] : 'ask';
}

/** What they look for is a pattern there, and not a place. */
const ABOUT_NO_PLACE: readonly string[] = ['grep', 'glob'];

/**
 * `name` is theirs, `tool` ours, and `rest` what holds where no rule fits. A rule that ours cannot say is given to `onUnsaid`;
 * what it would hold back asks.
 */
export function readOpencodeRule(
  name: string,
  tool: string | undefined,
  written: unknown,
  rest: Permission | undefined,
  onUnsaid: (pattern: string) => void,
): Rule | undefined {
  const choice = choiceOf(written);
  const takesRules = tool !== undefined && RULED_TOOLS.includes(tool) && !name.includes('*');
  if (!isJsonObject(written) || choice === undefined || !takesRules) return choice;
  const rules = Object.entries(written).map(([pattern, word]) => {
    const permission = choiceOf(word) ?? 'ask';
    const isQuery = ABOUT_NO_PLACE.includes(name.toLowerCase()) && pattern !== '*';
    const ours = isQuery ? [] : ourPatterns(tool, pattern, permission);
    return { pattern, permission, ours, isSaid: ours.length > 0 && ours.every((one) => canSay(tool, one)) };
  });
  const unsaid = rules.filter(({ isSaid }) => !isSaid);
  for (const { pattern } of unsaid) onUnsaid(pattern);
  const said = rules.flatMap(({ ours, permission, isSaid }) => (isSaid ? ours.map((one) => [one, permission] as const) : []));
  const map = lastDecides(tool, said, rest);
  if (unsaid.every(({ permission }) => permission === 'allow')) return said.length === 0 ? 'ask' : map;
  if (choice === 'deny') return 'deny';
  const held = bothHold(map, 'ask');
  return Object.keys(held).length === 1 ? 'ask' : held;
}

/** More forms than these are not written out. */
const MAX_FORMS = 16;

/** All that it holds back there is held back here; what is allowed may be less. None where ours cannot say it. */
function ourPatterns(tool: string, pattern: string, permission: Permission): readonly string[] {
  if (tool === 'shell' || tool === 'fetch' || pattern === '*') return [pattern];
  // A variable of the shell: the home of the user.
  if (pattern.startsWith('$')) return [];
  if (permission === 'allow') return [pattern.replace(/\/\*$/, '/**')];
  let forms: readonly string[] = [''];
  for (const [index, step] of pattern.split('/').entries()) {
    const ways = acrossFolders(step);
    forms = forms.flatMap((form) => ways.map((way) => (index === 0 ? way : `${form}/${way}`)));
    if (forms.length > MAX_FORMS) return [];
  }
  return forms;
}

/** A name with stars, each of which may stand for a part of it or for folders as well. */
function acrossFolders(step: string): readonly string[] {
  const parts = step.split(/\*+/);
  if (parts.every((part) => part === '')) return parts.length === 1 ? [step] : ['**'];
  const [first = '', ...rest] = parts;
  let ways: readonly string[] = [first === '' ? '**/' : first];
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1 && part === '';
    const isFirst = index === 0 && first === '';
    const stars = isLast ? ['*/**'] : isFirst ? ['*'] : ['*', '*/**/*'];
    ways = ways.flatMap((way) => stars.map((star) => `${way}${star}${part}`));
    if (ways.length > MAX_FORMS) return ways;
  }
  return ways;
}
