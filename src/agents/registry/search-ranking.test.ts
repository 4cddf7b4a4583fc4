/** Who is found first, for questions as people ask them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createRegistry, type RegisteredAgent, type Registry } from './registry.ts';
import { termsOf } from './search-text.ts';

type Row = readonly [name: string, description: string, tags?: readonly string[], examples?: readonly string[]];

const AGENTS: readonly Row[] = [
  ['python-reviewer', 'Reviews Python code and finds mistakes before they ship.', ['python', 'bugs'], ['Why does this crash?']],
  ['poet', 'Writes poems and short verses on any subject.', ['writing'], ['A sonnet about autumn']],
  ['CodeReviewer', 'Looks at a change in any language and says what could break.', ['review']],
  ['rust-mentor', 'Explains ownership and lifetimes to people new to Rust.', ['rust', 'teaching']],
  ['cpp-tuner', 'Makes C++ programs faster.', ['c++', 'performance'], ['Why is this loop slow?']],
  ['csharp-porter', 'Moves C# projects to a newer .NET.', ['c#', 'dotnet']],
  ['sql-doctor', 'Finds slow queries in PostgreSQL and suggests indexes.', ['sql', 'database']],
  ['translator', 'Translates letters between German and French.', ['languages'], ['What is “Steuererklärung” in French?']],
  ['Café Planner', 'Plans menus for a small café: crêpes, sandwiches, soups.', ['cooking']],
  ['tax-clerk', 'Fills in tax forms and explains deductions.', ['finance', 'taxes']],
  ['travel-guide', 'Plans a trip with trains and hotels.', ['travel'], ['Two days in Lisbon with children']],
  ['release-writer', 'Writes release notes and changelogs from commits.', ['documentation']],
  ['security-auditor', 'Audits a web application for vulnerabilities such as injection.', ['security']],
  ['log-reader', 'Reads server logs and finds the cause of an incident.', ['operations'], ['Why was the site down last night?']],
  ['designer', 'Chooses colours and fonts for web pages.', ['css', 'design']],
  ['contract-lawyer', 'Checks contracts for risky clauses.', ['legal']],
  ['math-tutor', 'Teaches algebra and geometry step by step.', ['teaching', 'maths']],
  ['gardener', 'Knows when to plant which vegetables.', ['garden']],
  ['meeting-minutes', 'Summarises meetings and lists who does what.', ['summaries']],
  ['代码审查员', '审查代码并找出错误。', ['代码']],
  ['翻訳者', 'メールを英語に翻訳します。', ['翻訳']],
  ['번역가', '문서를 한국어로 번역합니다.', ['번역']],
  ['हिन्दी शिक्षक', 'हिन्दी व्याकरण सिखाता है।'],
  ['who-is-who', 'A directory of colleagues and their departments.'],
];

const agentOf = ([name, description, tags = [], examples = []]: Row): RegisteredAgent => ({
  definition: { name, description, tags: [...tags], examples: [...examples] },
  origin: 'project',
  disabled: false,
});

function registryOf(rows: readonly Row[]): Registry {
  const agents = rows.map(agentOf);
  return createRegistry({ path: ':memory:', agents: async () => agents, clock: systemClock });
}

const registry = registryOf(AGENTS);
const names = async (query: string, limit = 10): Promise<readonly string[]> =>
  (await registry.search(query, limit)).map((item) => item.name);

describe('the first hit', () => {
  it.each([
    ['someone to find bugs in python', 'python-reviewer'],
    ['PYTHON', 'python-reviewer'],
    ['pyth', 'python-reviewer'],
    ['I need somebody who can review my code please', 'CodeReviewer'],
    ['codereviewer', 'CodeReviewer'],
    ['write me a poem', 'poet'],
    ['a sonnet', 'poet'],
    ['teach me rust', 'rust-mentor'],
    ['my C++ program is slow', 'cpp-tuner'],
    ['c#', 'csharp-porter'],
    ['slow postgres queries', 'sql-doctor'],
    ['translating from German', 'translator'],
    ['steuererklarung', 'translator'],
    ['CREPES', 'Café Planner'],
    ['cafe', 'Café Planner'],
    ['cafe\u0301', 'Café Planner'],
    ['deductions on my taxes', 'tax-clerk'],
    ['plan a trip to Lisbon', 'travel-guide'],
    ['changelog', 'release-writer'],
    ['vulnerability', 'security-auditor'],
    ['SQL injection in a web application', 'security-auditor'],
    ['why is the site down', 'log-reader'],
    ['which colors and fonts', 'designer'],
    ['is this contract risky?', 'contract-lawyer'],
    ['geometry lessons', 'math-tutor'],
    ['vegetable garden', 'gardener'],
    ['summarize the meeting', 'meeting-minutes'],
    ['审查代码', '代码审查员'],
    ['错误', '代码审查员'],
    ['英語に翻訳', '翻訳者'],
    ['한국어 번역', '번역가'],
    ['हिन्दी', 'हिन्दी शिक्षक'],
    ['ｐｙｔｈｏｎ', 'python-reviewer'],
    ['"python" AND (NOT poet)', 'python-reviewer'],
    ['tags:python* ^review NEAR(code, 2)', 'python-reviewer'],
    ['🐍 python 🐍', 'python-reviewer'],
    ['who is who', 'who-is-who'],
  ])('for “%s” is %s', async (query, first) => {
    expect((await names(query))[0]).toBe(first);
  });

  it('is whoever is called so, before whoever only speaks of it', async () => {
    const twins = registryOf([
      ['zebra', 'Draws animals.'],
      ['painter', 'Draws a zebra, then another zebra, and the next zebra.', [], ['zebra zebra']],
      ['keeper', 'Feeds animals.', ['zebra']],
      ['guide', 'Shows a zebra.'],
      ['singer', 'Sings.', [], ['a song about a zebra']],
    ]);
    const found = await twins.search('zebra', 10);
    expect(found[0]?.name).toBe('zebra');
    expect(found[1]?.name).toBe('keeper');
    expect(found.map((item) => item.name)).toHaveLength(5);
    twins.close();
  });

  it('of equals is the one that comes first by name', async () => {
    const twins = registryOf(['c', 'a', 'b'].map((name) => [name, 'Bakes bread.'] as const));
    expect((await twins.search('bread', 10)).map((item) => item.name)).toEqual(['a', 'b', 'c']);
    expect((await twins.search('bread', 2)).map((item) => item.name)).toEqual(['a', 'b']);
    twins.close();
  });
});

describe('a question', () => {
  it('that asks for nothing shows what there is, by name', async () => {
    const all = (await registry.list({ page: 1, pageSize: 100 })).items.map((item) => item.name);
    for (const query of ['', '  ', '🦊🦊', '"*^-:()', '\u0000']) expect(await names(query, 5)).toEqual(all.slice(0, 5));
  });

  it('that nobody can answer has no answer', async () => {
    expect(await names('xylophone')).toEqual([]);
  });

  it('of words that say nothing is looked for all the same', () => {
    expect(termsOf('someone who').map((term) => term.text)).toEqual(['someone', 'who']);
    expect(termsOf('someone who knits').map((term) => term.text)).toEqual(['knits']);
  });

  it('has at most so many words, and gets at most so many answers', async () => {
    const long = Array.from({ length: 1_000 }, (_, index) => `w${index}`).join(' ');
    expect(termsOf(long)).toHaveLength(limits.searchTerms);
    const many = registryOf(Array.from({ length: 150 }, (_, index) => [`n${index}`, 'Same.'] as const));
    expect(await many.search('same', 10_000)).toHaveLength(limits.searchResults);
    expect(await many.search('', 10_000)).toHaveLength(limits.searchResults);
    expect(await many.search('same', -3)).toHaveLength(1);
    many.close();
  });

  it('of any text is survived, and the answers are agents', async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', "'", '(', ')', '*', '^', '-', '+', ':', 'AND', 'OR', 'NOT', 'NEAR(', '{name}', '\u0000', '\ud800'),
      fc.constantFrom('python', '代码', '🦊', 'é', 'e\u0301', ' ', '\u200d', 'ﷺ', 'İ'),
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(' ')),
      fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
      piece.map((part) => part.repeat(3_000)),
    );
    const known = new Set(AGENTS.map(([name]) => name));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 30 }), async (query, limit) => {
        const found = await names(query, limit);
        expect(found.length).toBeLessThanOrEqual(limit);
        expect(new Set(found).size).toBe(found.length);
        expect(found.every((name) => known.has(name))).toBe(true);
        expect(termsOf(query).length).toBeLessThanOrEqual(limits.searchTerms);
      }),
      { numRuns: 500 },
    );
  });

  it('finds an agent by each word of its name', async () => {
    for (const [name] of AGENTS) expect(await names(name, 3), name).toContain(name);
  });
});

describe('among very many', () => {
  it('common words still count beside rare ones', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index): Row => {
      const language = index % 100 === 7 ? 'python' : 'java';
      return [
        `agent-${index}`,
        `Finds ${index === 1_507 ? 'bugs' : 'things'} in ${language}${index % 2 === 0 ? ' and bugs' : ''}.`,
      ];
    });
    const many = registryOf(rows);
    expect((await many.search('find bugs in python', 3))[0]?.name).toBe('agent-1507');
    expect((await many.search('find bugs', 3)).map((item) => item.name)).toHaveLength(3);
    expect((await many.search('find', 5)).map((item) => item.name)).toHaveLength(5);
    many.close();
  });
});
