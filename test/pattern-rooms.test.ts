/**
 * A pattern is one room: its folder under src/patterns, the schema of agent files and one line in the table. What runs and shows
 * agents asks the table and names no pattern; where one has to be named all the same, the list here says why.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSources, withoutComments } from '../scripts/architecture.ts';
import { patternKeys } from '../src/agents/definition/definition.ts';
import { patternEvents } from '../src/events/pattern-events.ts';
import { registeredPatterns } from '../src/patterns/registered.ts';

const root = join(import.meta.dirname, '..', 'src');
const sources = readSources(root);

/** The product has groups that last, with a room of their own: in most places the word means these. */
const OTHER_MEANING: readonly string[] = ['group'];
const roles = registeredPatterns.flatMap((pattern) => ('answeredBy' in pattern ? pattern.answeredBy : []));
const names = new Set(
  [...patternKeys, ...roles, 'seat']
    .filter((name) => !OTHER_MEANING.includes(name))
    .flatMap((name) => [name, name.replace(/s$/, ''), `${name}s`]),
);

const WATCHED: readonly string[] = ['engine', 'cli', 'projections', 'loop', 'runner', 'assistants', 'protocols', 'library'];

/** A file or a folder that may name patterns, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'engine/hearing/broadcasts.ts': 'the broadcasts of the steps port: `team` is a field of the event, which is a promise',
  'engine/hearing/broadcasts-before-turn.ts': 'writes a notice in the place of a broadcast, with the same fields',
  'engine/fork/copied.ts': 'the reference of a package is a hash of its text, which names its session: a fork has another',
  'engine/travel/travelling.ts': 'what was merged says of which work the files are made that a worker has to build again',
  'projections/patterns/': 'how the events of each pattern show: projections lie below patterns and cannot ask them',
  'projections/comparing/volatile.ts': 'says which fields of recorded events may differ, by their types, which are promises',
  'cli/view/tree-lines.ts': 'says of a cycle in which nobody else speaks that it was the supervisor only',
  'cli/program/program.ts': 'says in its help what Troupe is for',
  'cli/program/group-commands.ts': 'says in its help what a squad is',
  'cli/program/commands.ts': 'has the command that writes a team and says so in its help',
  'cli/json/contract.ts': 'has a line for the command that writes a team',
  'cli/measure/': 'measures how an agent chooses, and says by which key it does',
  'cli/setup/': 'writes agent files for people, in which patterns are the text',
};

/** Words of identifiers and of texts, each of `teamSeat` too. */
function wordsOf(text: string): readonly string[] {
  return withoutComments(text).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
}

const named = (text: string): readonly string[] => [
  ...new Set(wordsOf(text).filter((word) => names.has(word.toLowerCase()))),
  // The word alone may mean a group that lasts; what a definition says, and what was recorded of one, is the pattern.
  ...(/\b(?:agent|definition)\??\.group\b/.test(withoutComments(text)) ? ['group'] : []),
  ...Object.keys(patternEvents).filter((type) => withoutComments(text).includes(`'${type}'`)),
];

const reasonFor = (path: string): string | undefined =>
  Object.keys(ALLOWED).find((allowed) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed));

const naming = sources.filter(({ folder, text }) => WATCHED.includes(folder) && named(text).length > 0);

it('the walk finds names where they belong', () => {
  for (const { key } of registeredPatterns) {
    const room = sources.filter(({ path }) => path.startsWith(`patterns/${key}/`));
    expect(room.flatMap(({ text }) => named(text)).length, key).toBeGreaterThan(0);
  }
  expect(sources.filter(({ folder }) => WATCHED.includes(folder)).length).toBeGreaterThan(250);
});

it('nothing that runs or shows agents names a pattern, but for what is listed', () => {
  const stray = naming.filter(({ path }) => reasonFor(path) === undefined);
  expect(stray.map(({ path, text }) => `${path}: ${named(text).join(', ')}`)).toEqual([]);
});

it('whoever is listed still names one', () => {
  const used = new Set(naming.map(({ path }) => reasonFor(path)));
  expect(Object.keys(ALLOWED).filter((allowed) => !used.has(allowed))).toEqual([]);
});

it('every registered pattern has a room with its entry, of at most 20 files', () => {
  for (const { key } of registeredPatterns) {
    expect(existsSync(join(root, 'patterns', key, 'pattern.ts')), key).toBe(true);
    expect(sources.filter(({ path }) => path.startsWith(`patterns/${key}/`)).length, key).toBeLessThanOrEqual(20);
  }
  expect(new Set(registeredPatterns.map(({ key }) => key)).size).toBe(registeredPatterns.length);
});

it('nobody outside looks into a room, but for groups that last', () => {
  const rooms = registeredPatterns.map(({ key }) => `patterns/${key}/`);
  const looking = sources
    .filter(({ path, imports }) => path !== 'patterns/registered.ts' && imports.some((target) => intoOther(rooms, path, target)))
    .map(({ path }) => path);
  // A group that lasts is one of the pattern: how its workers are told apart is said there.
  expect(looking).toEqual(['groups/agents.ts']);
});

function intoOther(rooms: readonly string[], path: string, target: string): boolean {
  return rooms.some((room) => target.startsWith(room) && !path.startsWith(room));
}
