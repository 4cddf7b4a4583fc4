/**
 * Why a command is asked about although a rule looks as if it allowed it, and what to write instead: for whoever is asked. Words
 * of the command are those of an agent, so only plain ones are repeated.
 */
import { visibleText } from '../base/visible-text.ts';
import { lineRuns, type Run } from './line-runs.ts';
import type { Rule, RuleMap } from './rule-map.ts';
import { covers, decideLine, mentions, patternWords } from './shell-rules.ts';

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]{1,60}$/;
const RULE_MAX = 100;

export function whyAsked(line: string, sources: readonly Rule[]): string | undefined {
  const runs = lineRuns(line);
  const maps = sources.filter((source) => typeof source !== 'string');
  for (const run of runs.ok ? withBelow(runs.value) : [])
    for (const map of maps) {
      const isEnough = (rule: string): boolean =>
        runs.ok && runs.value.length === 1
          ? decideLine(line, sources, { [rule]: 'allow' }) === 'allow'
          : covers(patternWords(rule), run) && run.below.length === 0;
      const reason = uncovered(map, run, isEnough) ?? named(map, run);
      if (reason !== undefined) return reason;
    }
  return undefined;
}

const withBelow = (runs: readonly Run[]): readonly Run[] => runs.flatMap((run) => [run, ...withBelow(run.below)]);

const shown = (pattern: string): string => JSON.stringify(visibleText(pattern).slice(0, RULE_MAX));

/** A rule that would cover it, but for one word. `isEnough`: whether a rule is all that is missing. */
function uncovered(map: RuleMap, run: Run, isEnough: (rule: string) => boolean): string | undefined {
  const rules = Object.entries(map).flatMap(([pattern, permission]) =>
    permission === 'allow' ? [{ pattern, words: patternWords(pattern) }] : [],
  );
  if (rules.some(({ words }) => covers(words, run))) return undefined;
  const near = rules.find(({ words }) => covers(words, { ...run, exposed: new Set() }));
  const at = [...run.exposed]
    .sort((left, right) => left - right)
    .find((index) => near !== undefined && !covers(near.words, { ...run, exposed: new Set([index]) }));
  if (near === undefined || at === undefined) return undefined;
  const texts = run.words.slice(run.program).map(({ text }) => text);
  const first = at - run.program;
  const said = `${shown(near.pattern)} does not stand for`;
  if (!texts.slice(0, first + 1).every((text) => PLAIN.test(text)))
    return `${said} an option or a word of it that is not known to be harmless`;
  // As short as it can be: what follows a word may not be covered either.
  const narrow = texts.flatMap((text, index) => {
    const words = texts.slice(0, index + 1);
    const isOne = index >= first && words.every((one) => PLAIN.test(one));
    return isOne ? [words.join(' ') + (/^[\w:@+-]+$/.test(text) ? '*' : ' *')] : [];
  });
  const rule = narrow.find((one) => one.length <= RULE_MAX && isEnough(one));
  const wide = `${texts[0]} **`;
  const whatever = rule === undefined ? 'would, for whatever follows' : 'for whatever follows';
  const instead = [
    ...(rule === undefined ? [] : [`${shown(rule)} would`]),
    ...(isEnough(wide) ? [`${shown(wide)} ${whatever}`] : []),
  ];
  const ways = instead.length === 0 ? '' : `; ${instead.join(', and ')}`;
  return `${said} ${JSON.stringify(texts[first])}, which is not known to be harmless${ways}`;
}

/** A rule that holds back what one of its words names. */
function named(map: RuleMap, run: Run): string | undefined {
  const found = Object.entries(map).find(
    ([pattern, permission]) => permission === 'deny' && mentions(patternWords(pattern), run),
  );
  return found === undefined
    ? undefined
    : `a word of it names what ${shown(found[0])} denies, and nobody knows what is done with that word`;
}
