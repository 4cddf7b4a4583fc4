/**
 * From terms to names, best first. Rarer words decide and common ones only add weight, as BM25 has it; a hit in the name
 * counts more than one in the tags, then the description, then the examples. A tie goes to the name that comes first.
 *
 * However many agents there are, at most `limits.searchCandidates` are weighed for one question: words decide from the rarest
 * on until so many agents have one of them, and what is left over counts without widening the choice.
 */
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../base/limits.ts';
import type { Term } from './search-text.ts';

export type Rank = (terms: readonly Term[], limit: number) => readonly string[];

/** For name, tags, description, examples: the order of the columns. */
const WEIGHTS = '10.0, 6.0, 3.0, 1.0';

const RANKED = `
SELECT agent_entry.name AS name FROM (
  SELECT rowid AS id, bm25(agent_search, ${WEIGHTS}) AS score FROM agent_search WHERE agent_search MATCH ?
  LIMIT ${limits.searchCandidates}
) AS hit JOIN agent_entry ON agent_entry.id = hit.id
ORDER BY hit.score, agent_entry.name LIMIT ?`;

const COUNTED = 'SELECT count(*) AS count FROM agent_search WHERE agent_search MATCH ?';

/** Of a long question, the rarest words say what it is about. */
const TERMS_WEIGHED = 8;
/** How many common words must be together before they say something. */
const TOGETHER = 4;
const COUNTS_KEPT = 5_000;

/** What one term asks of the index, and how many agents have it. */
interface Asked {
  readonly match: string;
  readonly count: number;
}

/** For a database that does not change: how many agents have a word is counted once. */
export function createRank(database: DatabaseSync): Rank {
  const ranked = database.prepare(RANKED);
  const count = createCount(database);
  return (terms, limit) => {
    const asked = terms.map((term) => ask(count, term)).filter((one) => one.count > 0);
    const found = new Set<string>();
    for (const match of [...matchesOf(asked), ...beginnings(terms)]) {
      for (const row of ranked.all(match, limit)) found.add(String(row['name']));
      if (found.size >= limit) break;
    }
    return [...found].slice(0, limit);
  };
}

function createCount(database: DatabaseSync): (match: string) => number {
  const counted = database.prepare(COUNTED);
  const counts = new Map<string, number>();
  return (match) => {
    const known = counts.get(match);
    if (known !== undefined) return known;
    if (counts.size >= COUNTS_KEPT) counts.clear();
    const found = Number(counted.get(match)?.['count'] ?? 0);
    counts.set(match, found);
    return found;
  };
}

function ask(count: (match: string) => number, term: Term): Asked {
  const whole = { match: quoted(term), count: count(quoted(term)) };
  if (whole.count > 0 || !term.mayBegin) return whole;
  const match = `${quoted(term)}*`;
  return { match, count: count(match) };
}

/** Within quotes nothing is an operator. */
const quoted = ({ text }: Term): string => `"${text.replaceAll('"', '""')}"`;

/** What to look for, one after the other until there are enough. */
function matchesOf(asked: readonly Asked[]): readonly string[] {
  const rarestFirst = asked.toSorted((left, right) => left.count - right.count).slice(0, TERMS_WEIGHED);
  const [rarest] = rarestFirst;
  if (rarest === undefined) return [];
  let candidates = 0;
  const deciding = rarestFirst.filter(({ count }) => {
    candidates += count;
    return candidates <= limits.searchCandidates;
  });
  if (deciding.length > 0) return [weighed(matches(deciding), matches(rarestFirst.slice(deciding.length)))];
  // Even the rarest is common: it says something together with others, or where it is part of what an agent is called.
  const together = matches(rarestFirst.slice(0, TOGETHER)).join(' AND ');
  return [...(rarestFirst.length > 1 ? [together] : []), `{name tags} : ${rarest.match}`, rarest.match];
}

const matches = (asked: readonly Asked[]): readonly string[] => asked.map(({ match }) => match);

/** Whoever has one of the deciding words; the others count, but do not widen the choice. */
function weighed(deciding: readonly string[], weighing: readonly string[]): string {
  const choice = deciding.join(' OR ');
  return weighing.length === 0 ? choice : `(${choice}) OR ((${choice}) AND (${weighing.join(' OR ')}))`;
}

/** Where too few have the words themselves, whoever has a word that begins like one of them may be meant too. */
function beginnings(terms: readonly Term[]): readonly string[] {
  const matches = terms.filter((term) => term.mayBegin).map((term) => `${quoted(term)}*`);
  return matches.length === 0 ? [] : [matches.join(' OR ')];
}
