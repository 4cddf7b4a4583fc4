import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { findPreset, readPresetCatalogue } from './preset-tiers.ts';
import { readPresets, savePresets, userPresetsFile } from './presets/file.ts';
import { presetSchema } from './presets/preset.ts';
import { readSquad } from './squad/read.ts';

const content = (name: string) =>
  presetSchema.parse({ name, mode: 'broadcast', description: 'mine', workers: [{ name: 'w', model: 'm-1' }] });
const team = (name: string): string => `# ${name}\n\n## Members\n\n| Name | Role |\n|---|---|\n| Ann | a |\n`;

describe('the tiers', () => {
  it('repository before user before built-in; every one stays within reach', async () => {
    await using project = await temporaryProject({ '.squad/team.md': team('bug hunt') });
    const userConfigDir = join(project.root, 'config');
    await savePresets(userPresetsFile(userConfigDir), [content('Bug-Hunt'), content('Research Panel'), content('Own')]);
    const catalogue = await readPresetCatalogue({ projectRoot: project.root, userConfigDir });
    const shown = catalogue.listed.map(
      ({ preset, shadowedBy }) => `${preset.source.tier}:${preset.name}${shadowedBy === undefined ? '' : ` < ${shadowedBy}`}`,
    );
    expect(shown.slice(0, 4)).toEqual(['repo:bug hunt', 'user:Bug-Hunt < repo', 'user:Research Panel', 'user:Own']);
    expect(shown).toEqual(
      expect.arrayContaining(['built-in:Bug Hunt < repo', 'built-in:Research Panel < user', 'built-in:PR Review Squad']),
    );

    const tierOf = (word: string) => {
      const found = findPreset(catalogue, word);
      return found.ok ? found.value.source.tier : found.error;
    };
    expect(['Bug Hunt', 'user:bug hunt', 'built-in:bug-hunt', 'REPO:Bug_Hunt', 'research panel'].map(tierOf)).toEqual([
      'repo',
      'user',
      'built-in',
      'repo',
      'user',
    ]);
    expect(tierOf('user:Owm')).toBe('did you mean "Own"?');
    expect(tierOf('repo:zzz')).toBe('known presets: bug hunt');
  });

  it('without a repository and a user are the built-in ones', async () => {
    const { listed, warnings } = await readPresetCatalogue({});
    expect([listed.every(({ preset }) => preset.source.tier === 'built-in'), warnings]).toEqual([true, []]);
    expect(listed.length).toBeGreaterThanOrEqual(5);
  });

  it('give models that are known, and a warning for the others', async () => {
    await using project = await temporaryProject();
    await savePresets(userPresetsFile(project.root), [content('Own')]);
    const { listed, warnings } = await readPresetCatalogue({ userConfigDir: project.root, knownModel: () => false });
    expect(listed[0]?.preset.workers).toEqual([{ name: 'w' }]);
    expect(warnings).toEqual([expect.stringContaining('"w" of "Own" asks for the model "m-1"')]);
  });
});

describe('the pages', () => {
  const page = (name: string): Promise<string> => readFile(join(import.meta.dirname, '../../docs', name), 'utf8');

  it('about presets shows a file that is right, and every built-in preset with its mode', async () => {
    const text = await page('presets.md');
    const read = readPresets(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
    expect(read).toMatchObject({ ok: true, value: { warnings: [], presets: [{ name: 'Release Desk' }] } });
    const { listed } = await readPresetCatalogue({});
    for (const { preset } of listed) expect(text).toContain(`| ${preset.name} | ${preset.mode} |`);
  });

  it('about Squad shows a team with two workers', async () => {
    const [, team = ''] = /```markdown\n(.*?)```/s.exec(await page('squad.md')) ?? [];
    await using project = await temporaryProject({ '.squad/team.md': team });
    const { team: found } = await readSquad(project.root);
    expect(found?.preset).toMatchObject({ name: 'Team Roster', workers: [{ name: 'Ripley' }, { name: 'Dallas' }] });
  });
});
