import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../../base/limits.ts';
import { readPresetFile, readPresets, savePresets, userPresetsFile } from './file.ts';
import { presetFromAgents } from './from-agents.ts';
import { modelNamed, withKnownModels } from './models.ts';
import { type PresetContent, presetSchema } from './preset.ts';
import { presetAgents } from './to-agents.ts';

/** As the other program writes it: an indented array with PascalCase keys. */
const foreign = [
  {
    Name: 'Code Review Team',
    Description: 'Reviews.',
    Emoji: '🔍',
    Mode: 'OrchestratorReflect',
    OrchestratorModel: 'claude-opus-4.6',
    WorkerModels: ['claude-sonnet-4.5', 'gpt-5.1', 'gemini-3-pro'],
    IsUserDefined: true,
    IsRepoLevel: false,
    SourcePath: null,
    WorkerSystemPrompts: ['You are a security auditor. Look for holes.', null],
    SharedContext: 'We use tabs.',
    RoutingContext: null,
    DefaultWorktreeStrategy: 'FullyIsolated',
    MaxReflectIterations: null,
    WorkerDisplayNames: null,
  },
];

const content = (name: string, more: Partial<PresetContent> = {}): PresetContent =>
  presetSchema.parse({ name, mode: 'reflect', workers: [{ name: 'one' }], ...more });

describe('a presets.json of the original', () => {
  it('is read as it is', () => {
    const read = readPresets(JSON.stringify(foreign, null, 2));
    expect(read).toEqual({
      ok: true,
      value: {
        warnings: [],
        presets: [
          {
            name: 'Code Review Team',
            description: 'Reviews.',
            emoji: '🔍',
            mode: 'reflect',
            orchestrator: { model: 'claude-opus-4.6' },
            workers: [
              { name: 'worker-1', model: 'claude-sonnet-4.5', charter: 'You are a security auditor. Look for holes.' },
              { name: 'worker-2', model: 'gpt-5.1' },
              { name: 'worker-3', model: 'gemini-3-pro' },
            ],
            sharedContext: 'We use tabs.',
            worktrees: 'isolated',
          },
        ],
      },
    });
  });

  it.each([
    ['Broadcast', 'broadcast'],
    ['sequential', 'sequential'],
    [2, 'orchestrator'],
    [3, 'reflect'],
  ])('mode %s is %s', (Mode, mode) => {
    const read = readPresets(JSON.stringify([{ Name: 'a', Mode, WorkerModels: ['m'] }]));
    expect(read).toMatchObject({ ok: true, value: { presets: [{ mode }], warnings: [] } });
  });
});

describe('what a file of presets says and nobody reads', () => {
  const readOne = (entry: object) => {
    const read = readPresets(JSON.stringify([entry]));
    if (!read.ok) throw new Error(read.error);
    return read.value;
  };
  const own = (worker: object, more: object = {}) =>
    readOne({ name: 'a', mode: 'reflect', workers: [{ name: 'w', ...worker }], ...more });

  it('the rights of a worker hold: they are those of its agent, and the way back keeps them', () => {
    const permissions = { shell: 'deny', write: { 'src/**': 'allow' } } as const;
    const { presets, warnings } = own({ permissions });
    expect([presets[0]?.workers, warnings]).toEqual([[{ name: 'w', permissions }], []]);
    const agents = presetAgents({ ...presetSchema.parse(presets[0]), source: { tier: 'user' } });
    expect(agents.map((agent) => agent.permissions)).toEqual([undefined, permissions]);
    expect(presetFromAgents(agents, 'a', 'a')?.workers[0]?.permissions).toEqual(permissions);
  });

  it.each([
    [{ permissions: { shel: 'deny' } }, 'permissions.shel of worker "w": unknown tool "shel": Did you mean "shell"?'],
    [{ permissions: { shell: 'dney' } }, '"workers[1].permissions.shell" must be one of allow, ask, deny, not "dney"'],
    [{ permissions: { shell: 'allow' } }, 'permissions.shell of worker "w" must be ask or deny'],
    [{ permissions: { shell: { 'git *': 'allow' } } }, 'permissions.shell.git * of worker "w" must be ask or deny'],
    [{ permissions: { '*': 'allow' } }, 'permissions.* of worker "w" must be ask or deny'],
    [{ permisions: { shell: 'deny' } }, 'unknown key "permisions" of worker "w": Did you mean "permissions"?'],
    [{ tool: ['read'] }, 'unknown key "tool" of worker "w": Did you mean "tools"?'],
  ])('what may have been a ban is never dropped: %j', (worker, why) => {
    const { presets, warnings } = own(worker);
    expect([presets, warnings]).toEqual([[], [expect.stringContaining(`preset "a" is passed over: ${why}`)]]);
  });

  it('nor is one that stands elsewhere', () => {
    const { presets, warnings } = own({}, { permissions: { shell: 'deny' } });
    expect([presets, warnings]).toEqual([[], ['preset "a" is passed over: unknown key "permissions": it belongs to a worker']]);
  });

  it('other keys and words are left out, and that is said', () => {
    const { presets, warnings } = own({ modle: 'm' }, { sharedContex: 'x', worktrees: 'moon', orchestrator: { promt: 'x' } });
    expect(presets).toHaveLength(1);
    expect(warnings).toEqual([
      'preset "a": unknown key "sharedContex": Did you mean "sharedContext"?',
      'preset "a": unknown key "promt" of the orchestrator: Did you mean "prompt"?',
      'preset "a": unknown key "modle" of worker "w": Did you mean "model"?',
      'preset "a": "worktrees" cannot be "moon": it is left out',
    ]);
    const foreignOne = readOne({ Name: 'b', Mode: 1, WorkerModels: ['m'], WorkerTols: [], DefaultWorktreeStrategy: 'Moon' });
    expect(foreignOne.warnings).toEqual([
      expect.stringContaining('preset "b": unknown key "WorkerTols"'),
      'preset "b": "worktrees" cannot be "Moon": it is left out',
    ]);
  });

  it('an agent that may more than a preset can say is kept with less', () => {
    const agents = presetAgents({ ...content('a'), source: { tier: 'user' } });
    const open = agents.map((agent) => ({
      ...agent,
      permissions: { '*': 'allow', shell: { 'git *': 'allow', 'rm *': 'deny' }, read: 'allow' } as const,
    }));
    const kept = presetFromAgents(open, 'a', 'a');
    expect(kept?.workers[0]?.permissions).toEqual({ shell: { 'git *': 'ask', 'rm *': 'deny' }, read: 'allow' });
    expect(readPresets(JSON.stringify([kept]))).toMatchObject({ ok: true, value: { presets: [{ name: 'a' }], warnings: [] } });
  });
});

describe('regression 10: JSON with missing or unknown fields and enumerations loads', () => {
  it.each([
    ['nothing but a name and a worker', { Name: 'a', WorkerModels: ['m'] }],
    ['an unknown mode', { Name: 'a', Mode: 'Quantum', WorkerModels: ['m'] }],
    ['a mode that is out of range', { Name: 'a', Mode: 17, WorkerModels: ['m'] }],
    ['an unknown strategy', { Name: 'a', Mode: 0, WorkerModels: [null], DefaultWorktreeStrategy: 'Elsewhere' }],
    ['fields of another version', { Name: 'a', Mode: 1, WorkerModels: ['m'], Fiesta: { Workers: [] } }],
    ['fields of the wrong kind', { Name: 'a', Mode: 1, WorkerModels: ['m', 7], MaxReflectIterations: 'many', Emoji: 3 }],
    ['only prompts', { Name: 'a', Mode: 1, WorkerSystemPrompts: ['You help.'] }],
    ['our own with an unknown mode', { name: 'a', mode: 'quantum', workers: [{ name: 'w' }], extra: 1 }],
  ])('%s', (_what, entry) => {
    const read = readPresets(JSON.stringify([entry]));
    expect(read).toMatchObject({ ok: true, value: { presets: [{ name: 'a' }] } });
  });

  it('an unknown mode is said, an entry without a name is passed over, and the others stay', () => {
    const read = readPresets(
      JSON.stringify([{ WorkerModels: ['m'] }, 'text', null, { Name: 'b', Mode: '?', WorkerModels: ['m'] }]),
    );
    expect(read.ok && read.value.presets.map(({ name }) => name)).toEqual(['b']);
    expect(read.ok && read.value.warnings).toEqual([
      expect.stringContaining('number 1 is passed over'),
      expect.stringContaining('number 2 is passed over'),
      expect.stringContaining('number 3 is passed over'),
      'preset "b": an unknown mode "?" becomes orchestrator',
    ]);
  });

  it('whatever the JSON is, reading does not throw', () => {
    const keys = fc.constantFrom(
      'Name',
      'name',
      'Mode',
      'mode',
      'WorkerModels',
      'workers',
      'orchestrator',
      'presets',
      'WorkerDisplayNames',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.array(tie('value')), fc.dictionary(keys, tie('value'))),
    })).value;
    fc.assert(fc.property(tree, (value) => void readPresets(JSON.stringify(value))));
    fc.assert(fc.property(fc.string(), (text) => void readPresets(text)));
  });
});

describe('the file of a user', () => {
  it('is empty when it is not there, and empty with a warning when it cannot be read', async () => {
    await using project = await temporaryProject({ 'bad.json': '[{', 'odd.json': '7', 'folder/x': '' });
    expect(await readPresetFile(join(project.root, 'none.json'))).toEqual({ presets: [], warnings: [] });
    for (const name of ['bad.json', 'odd.json', 'folder']) {
      const { presets, warnings } = await readPresetFile(join(project.root, name));
      expect([presets, warnings]).toEqual([[], [expect.stringContaining('its presets are left out')]]);
    }
  });

  it('gives back what was saved; a preset of the same name is replaced in its place', async () => {
    await using project = await temporaryProject();
    const path = userPresetsFile(join(project.root, 'config', 'troupe'));
    expect(await savePresets(path, [content('One'), content('Two')])).toMatchObject({ ok: true });
    expect(await savePresets(path, [content('one', { description: 'new' })])).toMatchObject({ ok: true });
    const { presets, warnings } = await readPresetFile(path);
    expect([presets.map(({ name, description }) => `${name} ${description}`), warnings]).toEqual([['one new', 'Two '], []]);
    expect(await readdir(join(project.root, 'config', 'troupe'))).toEqual(['presets.json']);
  });

  it('keeps entries and fields that are not understood when it is written', async () => {
    const odd = { Name: 'Odd', Mode: 'Quantum', WorkerModels: ['m'], Later: [1] };
    await using project = await temporaryProject({ 'presets.json': JSON.stringify({ note: 'mine', presets: [odd, 'scrap'] }) });
    const path = join(project.root, 'presets.json');
    await savePresets(path, [content('New')]);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      note: 'mine',
      version: 1,
      presets: [odd, 'scrap', content('New')],
    });
  });

  it('is not written over when it is not JSON', async () => {
    await using project = await temporaryProject({ 'presets.json': '[{' });
    const path = join(project.root, 'presets.json');
    expect(await savePresets(path, [content('New')])).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('not written over') },
    });
    expect(await readFile(path, 'utf8')).toBe('[{');
  });

  it('holds a bounded number of presets', async () => {
    await using project = await temporaryProject();
    const many = Array.from({ length: limits.presetsPerFile + 1 }, (_, index) => content(`p${index}`));
    const result = await savePresets(join(project.root, 'presets.json'), many);
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining('presetsPerFile') } });
  });
});

describe('models', () => {
  const known = (model: string): boolean => /^(anthropic|openai)\//.test(model);

  it('get their provider, and fall back with a warning when nobody knows them', () => {
    expect(['openai/x', 'claude-opus-4.6', 'GPT-5.1', 'gemini-3-pro', 'llama'].map((name) => modelNamed(name, known))).toEqual([
      'openai/x',
      'anthropic/claude-opus-4-6',
      'openai/gpt-5.1',
      undefined,
      undefined,
    ]);
    const preset = {
      ...content('T', { workers: [{ name: 'a', model: 'llama' }, { name: 'b' }] }),
      source: { tier: 'user' },
    } as const;
    expect(withKnownModels(preset, known)).toEqual({
      preset: { ...preset, workers: [{ name: 'a' }, { name: 'b' }] },
      warnings: ['"a" of "T" asks for the model "llama", which is not known: the default is used'],
    });
  });
});
