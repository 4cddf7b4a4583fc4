import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { runProgram } from '../program/program.ts';

const squad =
  '# Bug Hunt\n\n## Members\n\n| Name | Role | Charter | Status |\n|---|---|---|---|\n| Ann | hunts | — | ✅ Active |\n';

async function call(root: string, ...args: string[]) {
  const terminal = testTerminal({ env: { HOME: join(root, 'home') } });
  const code = await runProgram(['-C', root, 'presets', ...args], terminal);
  return { code, ...terminal.written };
}

const shown = (out: string) => JSON.parse(out) as Record<string, unknown>;

describe('troupe presets', () => {
  it('lists what there is with badges; what the repository has comes first, and what it shadows is said', async () => {
    await using project = await temporaryProject({ '.squad/team.md': squad });
    const { code, out } = await call(project.root, 'list');
    const lines = out.split('\n').filter((line) => line.startsWith('Bug Hunt'));
    expect([code, lines.length]).toEqual([0, 2]);
    expect(lines[0]).toContain('📂 repo');
    expect(lines[1]).toContain('📦 built-in, shadowed by repo');
    expect(out).toContain('PR Review Squad');
    const listed = shown((await call(project.root, 'list', '--json')).out) as { presets: readonly Record<string, unknown>[] };
    expect(listed.presets[0]).toEqual({
      name: 'Bug Hunt',
      reference: 'repo:Bug Hunt',
      tier: 'repo',
      badge: '📂 repo',
      path: join(project.root, '.squad'),
      mode: 'reflect',
      workers: ['Ann'],
      description: '',
      shadowedBy: null,
    });
  });

  it('shows one by any spelling of its name, and a shadowed one by its tier', async () => {
    await using project = await temporaryProject({ '.squad/team.md': squad });
    expect(shown((await call(project.root, 'show', 'bug-hunt', '--json')).out)).toMatchObject({
      badge: '📂 repo',
      workers: [{ name: 'Ann' }],
    });
    expect(shown((await call(project.root, 'show', 'built-in:BUG HUNT', '--json')).out)).toMatchObject({
      badge: '📦 built-in',
      maxIterations: 6,
    });
    const { out } = await call(project.root, 'show', 'pr-review-squad');
    expect(out).toContain('Correctness: finds logic errors');
  });

  it('says of one that is shown in the place of another why that is, to programs too', async () => {
    const presets = JSON.stringify([{ name: 'bug hunt', mode: 'reflect', workers: 5 }]);
    await using project = await temporaryProject({ 'home/.config/troupe/presets.json': presets });
    const why = expect.stringMatching(/preset "bug hunt" is passed over: "workers" must be a list, not 5/);
    expect((await call(project.root, 'show', 'Bug Hunt')).progress).toEqual(why);
    expect(shown((await call(project.root, 'show', 'Bug Hunt', '--json')).out)).toMatchObject({
      badge: '📦 built-in',
      warnings: [why],
    });
    expect(shown((await call(project.root, 'show', 'Research Panel', '--json')).out)).toMatchObject({ warnings: [] });
  });

  it('knows what was probably meant', async () => {
    await using project = await temporaryProject();
    const { code, progress } = await call(project.root, 'show', 'reserch-panel');
    expect([code, progress]).toEqual([2, expect.stringContaining('did you mean "Research Panel"?')]);
    expect((await call(project.root, 'show', 'repo:bug-hunt')).progress).toContain('known presets: none');
  });

  it('imports presets.json of the original; they are then the user’s, and models get names that are known here', async () => {
    const foreign = [
      {
        Name: 'My Team',
        Mode: 'OrchestratorReflect',
        OrchestratorModel: 'claude-opus-4.6',
        WorkerModels: ['mystery-9'],
        Emoji: '🎭',
      },
      { Mode: 'Broadcast' },
    ];
    await using project = await temporaryProject({ 'presets.json': JSON.stringify(foreign, null, 2) });
    const { code, out, progress } = await call(project.root, 'import', 'presets.json');
    expect([code, out]).toEqual([0, 'My Team\n']);
    expect(progress).toContain('passed over');
    const saved = join(project.root, 'home/.config/troupe/presets.json');
    expect(JSON.parse(await readFile(saved, 'utf8'))).toMatchObject({
      version: 1,
      presets: [{ name: 'My Team', mode: 'reflect' }],
    });
    const preset = shown((await call(project.root, 'show', 'user:my-team', '--json')).out);
    expect(preset).toMatchObject({
      orchestrator: { model: 'anthropic/claude-opus-4-6' },
      workers: [{ name: 'worker-1' }],
      source: { tier: 'user', path: saved },
    });
    expect((await call(project.root, 'list')).progress).toContain('asks for the model "mystery-9"');
  });

  it('refuses what is not a list of presets', async () => {
    await using project = await temporaryProject({ 'x.json': '{' });
    expect(await call(project.root, 'import', 'x.json')).toMatchObject({
      code: 2,
      progress: expect.stringContaining('is not JSON'),
    });
    expect(await call(project.root, 'import', 'none.json')).toMatchObject({
      code: 2,
      progress: expect.stringContaining('does not exist'),
    });
  });

  it('works on when the user’s file is broken', async () => {
    await using project = await temporaryProject({ 'home/.config/troupe/presets.json': '[{' });
    const { code, out, progress } = await call(project.root, 'list');
    expect([code, out.includes('Bug Hunt')]).toEqual([0, true]);
    expect(progress).toContain('its presets are left out');
  });

  it('shows what a worker may not do; what is not understood of that is said wherever the preset is named', async () => {
    const preset = (name: string, permissions: object) => ({ name, mode: 'broadcast', workers: [{ name: 'w', permissions }] });
    const presets = [preset('Shut', { shell: 'deny' }), preset('Ajar', { shel: 'deny' })];
    await using project = await temporaryProject({ 'home/.config/troupe/presets.json': JSON.stringify(presets) });
    expect((await call(project.root, 'show', 'shut')).out).toContain('shell: deny');
    const why = 'preset "Ajar" is passed over: permissions.shel of worker "w": unknown tool "shel": Did you mean "shell"?';
    const listed = await call(project.root, 'list');
    expect([listed.out.includes('Shut'), listed.out.includes('Ajar')]).toEqual([true, false]);
    expect(listed.progress).toContain(why);
    expect(await call(project.root, 'show', 'ajar')).toMatchObject({ code: 2, progress: expect.stringContaining(why) });
    const other = async (...args: string[]) => {
      const terminal = testTerminal({ env: { HOME: join(project.root, 'home') } });
      return { code: await runProgram(['-C', project.root, ...args], terminal), ...terminal.written };
    };
    expect(await other('groups', 'create', 'g', '--preset', 'ajar')).toMatchObject({
      code: 2,
      progress: expect.stringContaining(why),
    });
    expect((await other('check')).out.replaceAll(/\s+/g, ' ')).toContain(`warning: ${why}`);
  });

  it('prints nothing of a stranger’s team that could act on the terminal', async () => {
    await using project = await temporaryProject({
      '.squad/team.md': squad.replace('hunts', '\u001b]0;title\u0007hunts\u001b[2J'),
    });
    const { out } = await call(project.root, 'show', 'repo:bug-hunt');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(out).toContain('hunts');
  });
});
