import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unseen } from '../../test/support/tool-workspace.ts';
import { systemClock } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { systemRandom } from '../base/random.ts';
import { fail, ok } from '../base/result.ts';
import { createBuiltIns } from './built-ins.ts';
import { modelName } from './mcp/model-name.ts';
import type { McpServers } from './mcp/servers.ts';
import { type OrdinaryTool, textResult } from './port.ts';
import { createToolset } from './registry.ts';

const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: {} });
const remote = (server: string, tool: string): OrdinaryTool => ({
  name: tool,
  description: '',
  inputSchema: { type: 'object' },
  replay: 'safe',
  readOnly: true,
  origin: { server, tool },
  run: async () => textResult(tool),
});
const mcp: McpServers = {
  names: ['git', 'broken'],
  tools: async (server) =>
    server === 'git'
      ? ok([remote('git', 'status'), remote('git', 'push it!')])
      : fail('the MCP server broken could not be started: no'),
  close: async () => {},
};
const namesOf = (outcome: Awaited<ReturnType<typeof createToolset>>) =>
  outcome.ok ? outcome.value.map(({ name }) => name) : outcome.error;

describe('createToolset', () => {
  it('finds built-ins and MCP tools', async () => {
    expect(namesOf(await createToolset({ names: ['read', 'mcp:git', 'read', 'mcp:git/status'], builtIns, mcp }))).toEqual([
      'read',
      'git__status',
      'git__push_it_',
    ]);
    expect(namesOf(await createToolset({ names: ['mcp:git/status'], builtIns, mcp }))).toEqual(['git__status']);
    expect(namesOf(await createToolset({ names: [], builtIns }))).toEqual([]);
  });

  it('reports everything that is wrong at once', async () => {
    expect(
      namesOf(await createToolset({ names: ['serch', 'mcp:gti', 'mcp:git/statsu', 'mcp:broken', 'zzz'], builtIns, mcp })),
    ).toEqual([
      { name: 'serch', message: 'There is no tool named "serch".', fix: 'Did you mean "search"?' },
      { name: 'mcp:gti', message: 'There is no MCP server named "gti".', fix: expect.any(String) },
      { name: 'mcp:git/statsu', message: 'The MCP server git has no tool named "statsu".', fix: 'Did you mean "status"?' },
      { name: 'mcp:broken', message: 'The MCP server broken could not be started: no.', fix: expect.any(String) },
      { name: 'zzz', message: 'There is no tool named "zzz".', fix: expect.stringContaining('Known are: read, write') },
    ]);
    expect(namesOf(await createToolset({ names: ['mcp:git'], builtIns }))).toMatchObject([{ fix: 'Declare it under `mcp:`.' }]);
  });

  it('gives way to names that are taken', async () => {
    const [name] = namesOf(await createToolset({ names: ['mcp:git/status'], builtIns, mcp, reserved: ['git__status'] }));
    expect(name).toMatch(/^git__status_[0-9a-f]{8}$/);
  });

  it('makes names that providers accept, all different', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.string(), fc.string({ maxLength: 100 })), {
          selector: (pair) => pair.join('/'),
          maxLength: 20,
        }),
        (pairs) => {
          const taken = new Set<string>();
          for (const [server, tool] of pairs) {
            const name = modelName(server, tool, taken);
            expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            expect(taken.has(name)).toBe(false);
            taken.add(name);
          }
        },
      ),
    );
  });
});

describe('the built-in tools', () => {
  const tools = [...builtIns.values()].map((make) => make());

  it('describe themselves with strict schemas', () => {
    expect(tools.map(({ name }) => name)).toEqual([...builtIns.keys()]);
    for (const tool of tools) {
      expect(tool.inputSchema, tool.name).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.inputSchema).not.toHaveProperty('$schema');
      expect(tool.description.length).toBeLessThan(300);
    }
  });

  it('say which may be repeated', () => {
    expect(tools.filter(({ replay }) => replay === 'never').map(({ name }) => name)).toEqual(['write', 'edit', 'shell']);
  });

  it('answer any arguments with a value', async () => {
    const context = {
      workspace: '/no/such/folder',
      signal: new AbortController().signal,
      run: 'run_test' as RunId,
      idempotencyKey: 'k',
      seen: unseen,
      redact: (text: string) => text,
    };
    const harmless = tools.filter((tool) => tool.kind === undefined).filter(({ name }) => name !== 'fetch');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...harmless), fc.jsonValue(), async (tool, input) => {
        expect((await tool.run(input as never, context)).kind).toMatch(/^(?:ok|error)$/);
      }),
    );
  });

  it('keep a plan in words', async () => {
    const plan = tools.filter((tool) => tool.kind === undefined).find(({ name }) => name === 'plan');
    const items = [
      { text: 'look', status: 'done' },
      { text: 'build', status: 'active' },
      { text: 'test', status: 'pending' },
    ];
    const context = {
      workspace: '/',
      signal: new AbortController().signal,
      run: 'run_test' as RunId,
      idempotencyKey: 'k',
      seen: unseen,
      redact: (text: string) => text,
    };
    expect(await plan?.run({ items }, context)).toEqual(textResult('Plan (1 of 3 done)\n[x] look\n[>] build\n[ ] test'));
  });
});
