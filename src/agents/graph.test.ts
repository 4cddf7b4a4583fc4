import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../base/limits.ts';
import { checkProject } from './check-project.ts';
import { formatDiagnostic } from './text/diagnostics.ts';

async function check(files: Readonly<Record<string, string>>, mcpServers: readonly string[] = []) {
  const contents = Object.entries(files).map(([name, keys]) => [`agents/${name}.md`, `---\n${keys}\n---\nx`]);
  await using project = await temporaryProject(Object.fromEntries(contents));
  const result = await checkProject({ projectRoot: project.root, mcpServers });
  return { ...result, printed: result.diagnostics.map(formatDiagnostic) };
}

describe('references between agents', () => {
  it('are listed as edges', async () => {
    const { edges, printed } = await check({
      a: 'advisors: [b]\nagents: [c]\nteam: { members: [b], supervisor: a }\nhandoff: { to: d, include: request }',
      b: 'group: { mode: reflect, workers: [c, { agent: d, name: second }], evaluator: b }',
      c: 'router: { destinations: [d] }',
      d: 'dispatch: { agents: [e], fallback: e, clarification: e }',
      e: 'chat: true',
    });
    expect(printed).toEqual([]);
    expect(edges.map(({ from, to, kind }) => `${from} -(${kind})-> ${to}`)).toEqual([
      'a -(advisor)-> b',
      'a -(sub-agent)-> c',
      'a -(team member)-> b',
      'a -(team supervisor)-> a',
      'a -(handoff)-> d',
      'b -(group worker)-> c',
      'b -(group worker)-> d',
      'b -(group evaluator)-> b',
      'c -(router)-> d',
      'd -(dispatch)-> e',
      'd -(dispatch fallback)-> e',
      'd -(dispatch clarification)-> e',
    ]);
  });

  it('must lead to an agent', async () => {
    const { printed } = await check({ reviewer: 'handoff: wirter\nagents:\n  - nobody-at-all', writer: 'tools: [read]' });
    expect(printed).toEqual([
      'agents/reviewer.md:2:10: error: there is no agent "wirter" (named as handoff)\n  fix: Did you mean "writer"?',
      'agents/reviewer.md:4:5: error: there is no agent "nobody-at-all" (named as sub-agent)\n  fix: Known agents: writer.',
    ]);
  });

  it('to a broken file are not reported again', async () => {
    const { printed } = await check({ a: 'handoff: b', b: 'nonsense: 1' });
    expect(printed).toHaveLength(1);
    expect(printed[0]).toContain('agents/b.md:2:1: error: unknown key "nonsense"');
  });
});

describe('chains of agents', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [`a${index}`, index === length - 1 ? 'chat: true' : `handoff: a${index + 1}`]),
    );

  it('as deep as runs may be are fine', async () => {
    expect((await check(chain(limits.runDepth + 1))).printed).toEqual([]);
  });

  it('that are deeper are refused, once, where they begin', async () => {
    const { printed } = await check(chain(limits.runDepth + 4));
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(
      /^agents\/a0\.md:2:10: error: agents call each other 19 levels deep, more than 16 \(limit runDepth\): a0 -\(handoff\)-> a1 /,
    );
    expect(printed[0]).toContain('fix: Shorten the chain');
  });

  it('are told beside a circle of others', async () => {
    const { printed } = await check({ ...chain(limits.runDepth + 4), x: 'handoff: y', y: 'handoff: x', into: 'handoff: x' });
    expect(printed.map((line) => /circle|levels deep/.exec(line)?.[0])).toEqual(['levels deep', 'circle']);
  });

  it('count every way in which agents name each other', async () => {
    const { printed } = await check({ ...chain(limits.runDepth + 1), top: 'advisors: [a3, a0]', other: 'agents: [a1]' });
    expect(printed).toHaveLength(1);
    expect(printed[0]).toContain('agents/top.md:2:16: error: agents call each other 17 levels deep');
  });

  it('that are deeper than the budget of one of them are refused where it says so, if nobody has to choose them', async () => {
    const { printed } = await check({ ...chain(3), top: 'budget: { depth: 2 }\nhandoff: a0' });
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(
      /^agents\/top\.md:2:18: error: those below it are sure to be 3 levels deep, more than its budget\.depth: top -\(handoff\)-> a0 /,
    );
    expect(printed[0]).toContain('fix: Set budget.depth to 3 or more');
    expect((await check({ ...chain(3), top: 'budget: { depth: 3 }\nhandoff: a0' })).printed).toEqual([]);
    expect((await check({ ...chain(3), top: 'budget: { depth: 2 }\nagents: [a0]' })).printed).toEqual([]);
  });

  it('of thousands are looked at in one go', async () => {
    const { printed } = await check(chain(1_500));
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(/1499 levels deep.* …\n/);
  });
});

describe('files for context', () => {
  it('must be there, inside the project, and text', async () => {
    const { printed } = await check({
      desk: 'group:\n  mode: broadcast\n  workers: [a]\n  sharedContext: decisions.md\n  routingContext: ../../etc/passwd',
      good: 'group: { mode: broadcast, workers: [a], sharedContext: agents/a.md, routingContext: { text: To a. } }',
      a: 'chat: true',
    });
    expect(printed.map((line) => line.split('\n')[0])).toEqual([
      'agents/desk.md:5:18: error: the file "decisions.md" (group.sharedContext) does not exist',
      expect.stringMatching(
        /^agents\/desk\.md:6:19: error: the file "..\/..\/etc\/passwd" \(group.routingContext\) (does not exist|is outside)/,
      ),
    ]);
  });
});

describe('circles of agents', () => {
  it('are printed as a path', async () => {
    const { printed } = await check({ a: 'handoff: b', b: 'router: { destinations: [c, a] }', c: '' });
    expect(printed).toEqual([
      'agents/a.md:2:10: error: agents call each other in a circle: a -(handoff)-> b -(router)-> a\n  fix: Remove one of these references.',
    ]);
  });

  it.each([
    ['advisors: [b]', 'agents: [a]', 'a -(advisor)-> b -(sub-agent)-> a'],
    ['team: { members: [b] }', 'team: { members: [c], supervisor: a }', 'a -(team member)-> b -(team supervisor)-> a'],
    [
      'group: { mode: broadcast, workers: [b] }',
      'group: { mode: reflect, workers: [c], evaluator: a }',
      'a -(group worker)-> b -(group evaluator)-> a',
    ],
    ['dispatch: { agents: [b] }', 'dispatch: { agents: [c], fallback: a }', 'a -(dispatch)-> b -(dispatch fallback)-> a'],
  ])('over %s and %s', async (a, b, path) => {
    expect((await check({ a, b, c: '' })).printed.join('\n')).toContain(`in a circle: ${path}\n`);
  });

  it('are found behind a way that leads to them', async () => {
    const { printed } = await check({ a: 'handoff: b', b: 'handoff: c', c: 'handoff: d', d: 'handoff: b' });
    expect(printed).toHaveLength(1);
    expect(printed[0]).toContain(
      'agents/b.md:2:10: error: agents call each other in a circle: b -(handoff)-> c -(handoff)-> d -(handoff)-> b',
    );
  });

  it('are not seen where two ways meet', async () => {
    expect((await check({ a: 'agents: [b, c]', b: 'handoff: d', c: 'handoff: d', d: '' })).printed).toEqual([]);
  });

  it('can be long and are still named as a whole', async () => {
    const count = 1_000;
    const ring = Array.from({ length: count }, (_, index) => [`n${index}`, `handoff: n${(index + 1) % count}`] as const);
    const { printed } = await check(Object.fromEntries(ring));
    expect(printed).toHaveLength(1);
    expect(printed[0]?.length).toBeLessThan(1_000);
  });
});

describe('names of tools in agent files', () => {
  it('must be known', async () => {
    const keys = [
      'tools: [raed, github, mcp:github, mcp:gihtub/x, "mcp:own/y", "mcp:"]',
      'permissions: { Shell: ask, mcp:own: allow, mcp:own/*: ask, own__y: ask, "*": deny }',
      'mcp: { own: { command: server } }',
    ];
    expect((await check({ a: keys.join('\n') }, ['github'])).printed).toEqual([
      'agents/a.md:2:9: error: unknown tool "raed"\n  fix: Did you mean "read"?',
      'agents/a.md:2:15: error: unknown tool "github"\n  fix: Did you mean "mcp:github"?',
      'agents/a.md:2:35: error: unknown MCP server "gihtub"\n  fix: Did you mean "github"?',
      'agents/a.md:2:62: error: "mcp:" names no MCP server\n  fix: Write `mcp:server` or `mcp:server/tool`.',
      'agents/a.md:3:16: error: unknown tool "Shell"\n  fix: Did you mean "shell"?',
    ]);
    expect((await check({ a: 'tools: ["mcp:files"]' })).printed[0]).toContain('Declare it under `mcp:`');
  });
});
