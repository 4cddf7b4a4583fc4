import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorld, says } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import { definitionSchema } from '../definition/definition.ts';
import { BUILT_IN_TOOLS } from '../definition/tool-names.ts';
import { readSquad } from '../squad/read.ts';
import { builtInPresets } from './built-in.ts';
import { presetFromAgents } from './from-agents.ts';
import { type GroupPreset, groupModes, plainName, presetSchema, roleOf } from './preset.ts';
import { presetAgents } from './to-agents.ts';

const preset = (more: Partial<GroupPreset>): GroupPreset => ({
  ...presetSchema.parse({ name: 'Small Team', mode: 'orchestrator', workers: [{ name: 'One' }] }),
  source: { tier: 'user' },
  ...more,
});

describe('a preset as agents', () => {
  it('leads with the preset’s plain name; names are unique whatever the workers are called', () => {
    const agents = presetAgents(preset({ workers: [{ name: 'A b' }, { name: 'a-B' }, { name: '✨' }, { name: 'A b' }] }));
    expect(agents.map(({ name }) => name)).toEqual([
      'small-team',
      'small-team.a-b',
      'small-team.a-b-2',
      'small-team.worker',
      'small-team.a-b-3',
    ]);
    expect(agents[0]?.group?.workers).toMatchObject([{ name: 'A b' }, { name: 'a-B' }, { name: '✨' }, { name: 'A b-2' }]);
  });

  it('says what the file format allows, so that it could be written as agent files', () => {
    for (const one of [...builtInPresets(), preset({ sharedContext: 'x', routingContext: 'y', maxIterations: 2 })]) {
      for (const { models: _models, prompt: _prompt, source: _source, ...frontmatter } of presetAgents(one)) {
        expect(definitionSchema.safeParse(frontmatter).error).toBeUndefined();
      }
    }
  });

  it('takes text that looks like a variable as text', () => {
    const [, worker] = presetAgents(preset({ workers: [{ name: 'One', charter: `Write \${AGENT}.` }] }));
    expect(worker?.prompt).toBe(`Write $\${AGENT}.`);
  });

  it('runs: charters are prompts, the orchestrator knows roles and routing, workers know what is shared', async () => {
    const seen: Record<string, string> = {};
    const workers = [
      { name: 'Security Auditor', charter: 'You are a security auditor. CHARTER-ONE' },
      { name: 'Tester', role: 'tests things', charter: 'CHARTER-TWO' },
    ];
    const agents = presetAgents(preset({ workers, sharedContext: 'WE-USE-TABS', routingContext: 'TESTS-GO-TO-TESTER' }));
    const world = createWorld({
      agents,
      brain: (request) => {
        const all = JSON.stringify(request);
        if (all.includes('The workers have answered')) return says('All is well.');
        seen[request.agent ?? ''] = all;
        return says(request.agent === 'small-team' ? '@worker:Security Auditor look\n@worker:Tester test' : 'done');
      },
    });
    const started = await world.engine.start({ agent: 'small-team', input: userText('Is it safe?'), workspace: '.' });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    expect(await started.handle.done).toMatchObject({
      kind: 'ended',
      result: { status: 'completed', report: { body: 'All is well.' } },
    });
    expect(Object.keys(seen).sort()).toEqual(agents.map(({ name }) => name).sort());
    const { 'small-team': plan, 'small-team.security-auditor': auditor, 'small-team.tester': tester } = seen;
    for (const part of ['- Security Auditor: security auditor.', '- Tester: tests things.', 'TESTS-GO-TO-TESTER'])
      expect(plan).toContain(part);
    for (const part of ['CHARTER-ONE', 'WE-USE-TABS', 'Is it safe?']) expect(auditor).toContain(part);
    expect(tester).toContain('CHARTER-TWO');
    expect(tester).not.toContain('CHARTER-ONE');
    await world.close();
  });
});

describe('agents as a preset', () => {
  it('are the preset that they were made from', async () => {
    const { team } = await readSquad(join(import.meta.dirname, '../../../test/fixtures/squad/household'));
    if (team === undefined) throw new Error('no team');
    const odd = preset({
      workers: [{ name: 'A', charter: `Use \${X}.` }, { name: 'B' }, { name: 'C', role: 'tests', tools: [] }],
    });
    for (const one of [...builtInPresets(), team.preset, odd]) {
      const { source: _, emoji: __, worktrees: ___, ...content } = one;
      expect(presetFromAgents(presetAgents(one), plainName(one.name), one.name)).toEqual(content);
    }
  });

  it('that were written by hand give their prompts and charters', () => {
    const group = {
      mode: 'broadcast',
      workers: ['a', { agent: 'a', name: 'second', model: 'm', charter: 'Be brief.' }],
    } as const;
    const shared = { prompt: 'You help.', source: 'x.md', models: [] };
    const agents = [
      { ...shared, name: 'lead', prompt: '', group: { ...group, workers: [...group.workers], sharedContext: 'decisions.md' } },
      { ...shared, name: 'a', description: 'helps', tools: ['read'] },
    ];
    expect(presetFromAgents(agents, 'lead', 'Mine')).toEqual({
      name: 'Mine',
      description: '',
      mode: 'broadcast',
      orchestrator: {},
      workers: [
        { name: 'a', charter: 'You help.', role: 'helps', tools: ['read'] },
        { name: 'second', charter: 'Be brief.\n\nYou help.', model: 'm', role: 'helps', tools: ['read'] },
      ],
    });
    expect(presetFromAgents(agents, 'a', 'Mine')).toBeUndefined();
    // What stands for the models of one that lives elsewhere is no name of a model.
    const far = { ...shared, name: 'a', prompt: '', models: ['a2a:far.test'], remote: { card: 'https://far.test/card' } };
    expect(JSON.stringify(presetFromAgents([...agents.slice(0, 1), far], 'lead', 'Mine'))).not.toContain('a2a:');
  });
});

describe('the built-in presets', () => {
  const all = builtInPresets();

  it('are those that were promised, and every mode has one', () => {
    const names = all.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['PR Review Squad', 'Implement & Challenge', 'Research Panel', 'Architecture Council', 'Bug Hunt']),
    );
    expect(new Set(names.map(plainName)).size).toBe(names.length);
    expect(new Set(all.map(({ mode }) => mode))).toEqual(new Set(groupModes));
  });

  it.each(all)('$name is whole: charters, roles, tools that exist, no model of its own', (one) => {
    const { source, ...content } = one;
    expect(source).toEqual({ tier: 'built-in' });
    expect(presetSchema.parse(content)).toEqual(content);
    expect(one.orchestrator.model).toBeUndefined();
    if (one.mode === 'orchestrator' || one.mode === 'reflect') expect(one.orchestrator.prompt?.length).toBeGreaterThan(400);
    for (const worker of one.workers) {
      expect(worker.charter?.length).toBeGreaterThan(150);
      expect(worker.role).toBeTruthy();
      expect((worker.tools ?? []).filter((tool) => !BUILT_IN_TOOLS.includes(tool))).toEqual([]);
    }
  });

  it.each(all)('$name runs to an answer', async (one) => {
    const agents = presetAgents(one);
    const world = createWorld({
      agents,
      brain: (request) => {
        if (JSON.stringify(request).includes('The workers have answered')) return says('The answer.\n[[GROUP_REFLECT_COMPLETE]]');
        if (request.agent !== agents[0]?.name) return says(`by ${request.agent}`);
        return says(one.workers.map(({ name }) => `@worker:${name}\nyour part\n@end`).join('\n'));
      },
    });
    const started = await world.engine.start({ agent: agents[0]?.name ?? '', input: userText('Do it.'), workspace: '.' });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    await world.close();
  });
});

describe('what a worker is for', () => {
  it.each([
    [{ role: 'Lead' }, 'Lead'],
    [{ charter: 'You are a security auditor. You look.' }, 'security auditor'],
    [{ charter: '# Title\n\n> quote\n\nYou are an expert!\nMore.' }, 'expert'],
    [{ charter: 'Writes tests' }, 'Writes tests'],
    [{ charter: '' }, undefined],
    [{}, undefined],
  ])('%j is %s', (worker, role) => expect(roleOf(worker)).toBe(role));
});
