/** What a file may say of an agent that an executor works for. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { checkProject } from '../check-project.ts';
import { loadAgent } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';
import { defineAgent } from './define-agent.ts';
import { hasOwnModels } from './executor.ts';
import { modelsUsed, withModel } from './references.ts';
import { bareExecutor } from './to-definition.ts';

async function load(head: string, body = '') {
  const root = await mkdtemp(join(tmpdir(), 'troupe-executor-file-'));
  try {
    const path = join(root, 'coder.md');
    await writeFile(path, `---\n${head}\n---\n${body}`);
    const loaded = await loadAgent({ path, root });
    const problems = loaded.ok ? loaded.value.diagnostics : loaded.error;
    return { agent: loaded.ok ? loaded.value.definition : undefined, problems: problems.map(formatDiagnostic) };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe('a file of an agent that an executor works for', () => {
  it('needs only its name, and no prompt', async () => {
    const { agent, problems } = await load('executor: claude-code');
    expect(problems).toEqual([]);
    expect(agent).toMatchObject({ name: 'coder', executor: { name: 'claude-code' }, models: ['executor:claude-code'] });
  });

  it('may say on what terms it works, and what any run may say', async () => {
    const terms = 'mode: read-only, model: opus, maxCliCalls: 8, maxDuration: 15m, maxMemory: 2GB, maxUsd: 1.5';
    const beside =
      'permissions: { shell: deny }\nverify: [npm test]\nbudget: { usd: 2 }\nadvisors: [risk]\nhandoff: next\nchat: true';
    const { agent, problems } = await load(`executor: { name: codex, ${terms} }\n${beside}`, 'You code.\n');
    expect(problems.filter((one) => !one.includes('verify'))).toEqual([]);
    expect(agent?.executor).toEqual({
      ...{ name: 'codex', mode: 'read-only', model: 'opus' },
      ...{ maxCliCalls: 8, maxDuration: 900_000, maxMemory: 2_048, maxUsd: 1.5 },
    });
  });

  it.each([
    ['model: openai/gpt-5', 'model', /executor\.model/],
    ['tools: [read]', 'tools', /Remove one of the two/],
    ['agents: [helper]', 'agents', /an agent of its own/],
    ['router: { destinations: [a, b] }', 'router', /an agent of its own/],
    ['team: { members: [a] }', 'team', /an agent of its own/],
    ['temperature: 0.5', 'temperature', /Remove one of the two/],
    ['isolation: process', 'isolation', /Remove one of the two/],
  ])('refuses %s beside it, at its place', async (line, key, fix) => {
    const { agent, problems } = await load(`executor: codex\n${line}`);
    expect(agent).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^coder\\.md:3:1: .*"${key}" cannot stand beside "executor"`))]);
    expect(problems[0]).toMatch(fix);
  });

  it('cannot live elsewhere as well', async () => {
    const { problems } = await load('executor: codex\na2a: https://x.example/card.json');
    expect(problems).toEqual([expect.stringMatching(/"executor" cannot stand beside "a2a"/)]);
  });

  it.each([
    ['maxMemory: lots', /amount of memory/],
    ['maxMemory: 0', /maxMemory|amount of memory|greater|positive/i],
    ['maxDuration: soon', /duration/],
    ['maxDuration: 0', /more than 0/],
    ['mode: careful', /mode/],
    ['maxCli: 3', /unknown key "maxCli"/],
  ])('refuses %s', async (line, said) => {
    const { agent, problems } = await load(`executor:\n  name: codex\n  ${line}`);
    expect(agent).toBeUndefined();
    expect(problems.join('\n')).toMatch(said);
  });
});

describe('whoever has models of its own', () => {
  it('is asked none of ours, and is given none', () => {
    const agent = defineAgent({ name: 'coder', prompt: '', executor: 'codex' });
    expect(hasOwnModels(agent)).toBe(true);
    expect(modelsUsed(agent, ['openai/gpt-5'])).toEqual([]);
    expect(withModel(agent, 'openai/gpt-5').models).toEqual(['executor:codex']);
  });

  it('needs no file where a name is enough', async () => {
    expect(bareExecutor('executor:codex')).toMatchObject({ name: 'executor:codex', executor: { name: 'codex' } });
    expect(bareExecutor('codex')).toBeUndefined();
    expect(bareExecutor('executor:')).toBeUndefined();
    const lead = '---\nmodel: test/model\ngroup: { mode: broadcast, workers: ["executor:codex"] }\n---\nYou lead.\n';
    await using project = await temporaryProject({ 'agents/lead.md': lead });
    expect((await checkProject({ projectRoot: project.root })).diagnostics).toEqual([]);
  });
});

it('an executor that nobody knows is told, with the nearest one', async () => {
  await using project = await temporaryProject({
    'agents/coder.md': '---\nexecutor: claud-code\n---\n',
    'agents/lead.md': '---\nmodel: test/model\ngroup: { mode: broadcast, workers: ["executor:codx"] }\n---\nYou lead.\n',
  });
  const { diagnostics } = await checkProject({ projectRoot: project.root, executors: ['claude-code', 'codex'] });
  expect(diagnostics.map(formatDiagnostic)).toEqual([
    expect.stringMatching(/coder\.md:2:\d+: .*there is no executor "claud-code"[\s\S]*"claude-code"/),
    expect.stringMatching(/lead\.md:3:\d+: .*there is no executor "codx"[\s\S]*"codex"/),
  ]);
});
