/**
 * Why a command is asked about although a rule looks as if it allowed it, and what to write instead: for whoever is asked. Words
 * of the command are those of an agent, so only plain ones are repeated.
 */
import { visibleText } from '../base/visible-text.ts';
import { lineRuns, type Run } from './line-runs.ts';
import type { Rule, RuleMap } from './rule-map.ts';
import { covers, mentions, patternWords } from './shell-rules.ts';

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]{1,60}$/;
const RULE_MAX = 100;

export function whyAsked(line: string, sources: readonly Rule[]): string | undefined {
  const runs = lineRuns(line);
  const maps = sources.filter((source) => typeof source !== 'string');
  for (const run of runs.ok ? withBelow(runs.value) : [])
    for (const map of maps) {
      const reason = uncovered(map, run) ?? named(map, run);
      if (reason !== undefined) return reason;
    }
  return undefined;
}

const withBelow = (runs: readonly Run[]): readonly Run[] => runs.flatMap((run) => [run, ...withBelow(run.below)]);

const shown = (pattern: string): string => JSON.stringify(visibleText(pattern).slice(0, RULE_MAX));

/** A rule that would cover it, but for one word. */
function uncovered(map: RuleMap, run: Run): string | undefined {
  const rules = Object.entries(map).flatMap(([pattern, permission]) =>
    permission === 'allow' ? [{ pattern, words: patternWords(pattern) }] : [],
  );
  if (rules.some(({ words }) => covers(words, run))) return undefined;
  const near = rules.find(({ words }) => covers(words, { ...run, exposed: new Set() }));
  const at = [...run.exposed]
    .sort((left, right) => left - right)
    .find((index) => near !== undefined && !covers(near.words, { ...run, exposed: new Set([index]) }));
  if (near === undefined || at === undefined) return undefined;
  const texts = run.words.slice(run.program, at + 1).map(({ text }) => text);
  const said = `${shown(near.pattern)} does not stand for`;
  if (!texts.every((text) => PLAIN.test(text))) return `${said} an option or a word of it that is not known to be harmless`;
  const rule = texts.join(' ') + (/^[\w:@+-]+$/.test(texts.at(-1) ?? '') ? '*' : ' *');
  const instead = `${shown(rule)} would, and ${shown(`${texts[0]} **`)} for whatever follows`;
  return `${said} ${JSON.stringify(texts.at(-1))}, which is not known to be harmless; ${instead}`;
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
