import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TemporaryProject, temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../../base/limits.ts';
import type { GroupPreset } from '../presets/preset.ts';
import { readSquad } from './read.ts';
import { withoutTeam, writeSquad } from './write.ts';

const household = join(import.meta.dirname, '../../../test/fixtures/squad/household');

async function copyOfHousehold(): Promise<TemporaryProject> {
  const project = await temporaryProject();
  await cp(household, project.root, { recursive: true });
  return project;
}

async function filesOf(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [relative(root, file), await readFile(file, 'utf8')])));
}

async function presetIn(root: string): Promise<GroupPreset> {
  const { team } = await readSquad(root);
  if (team === undefined) throw new Error('no team');
  return team.preset;
}

async function write(root: string, preset: GroupPreset): Promise<readonly string[]> {
  const result = await writeSquad(root, preset);
  if (!result.ok) throw new Error(result.error.message);
  return result.value.files;
}

const preset = (more: Partial<GroupPreset> = {}): GroupPreset => ({
  name: 'Code Review Team',
  description: 'Reviews with care.',
  mode: 'orchestrator',
  orchestrator: { prompt: 'You lead.', model: 'big-1' },
  workers: [
    { name: 'Ann', role: 'reads | writes', charter: 'You are a reader. Read it.', model: 'small-1' },
    { name: 'Bea', role: 'tests', charter: '# Bea — Tester\n\nTests.' },
  ],
  sharedContext: '# Decisions\n\n### 2026-01-01: Tabs\n\nWe use tabs.',
  routingContext: '# Routing\n\nTests go to Bea.',
  source: { tier: 'user' },
  ...more,
});

describe('a new squad on disk', () => {
  it('has the canonical files, and reads as what was written', async () => {
    await using project = await temporaryProject();
    const files = await write(project.root, preset());
    expect(files).toEqual([
      '.squad/agents/ann/charter.md',
      '.squad/agents/bea/charter.md',
      '.squad/agents/_coordinator/charter.md',
      '.squad/decisions.md',
      '.squad/routing.md',
      '.squad/config.json',
      '.squad/team.md',
    ]);
    expect(await readFile(join(project.root, '.squad/team.md'), 'utf8')).toBe(
      [
        '# Code Review Team\n',
        '> Reviews with care.\n',
        'mode: orchestrator\n',
        '## Coordinator\n',
        '| Name | Role | Notes |',
        '|---|---|---|',
        '| Squad | Coordinator | Divides the work and puts results together. |\n',
        '## Members\n',
        '| Name | Role | Charter | Status |',
        '|---|---|---|---|',
        '| Ann | reads \\| writes | `.squad/agents/ann/charter.md` | ✅ Active |',
        '| Bea | tests | `.squad/agents/bea/charter.md` | ✅ Active |\n',
      ].join('\n'),
    );
    const { source: _, ...read } = await presetIn(project.root);
    const { source: __, ...wanted } = preset();
    expect(read).toEqual(wanted);
    expect(await write(project.root, preset())).toEqual([]);
  });

  it('has plain names: without the team’s, in lower case, with hyphens', async () => {
    await using project = await temporaryProject();
    const workers = ['Code Review Team-worker-1', 'Säge & Söhne', '../../etc', '🤖', 'Ann', 'ann'].map((name) => ({
      name,
      charter: 'x',
    }));
    await write(project.root, preset({ workers }));
    expect(Object.keys(await filesOf(join(project.root, '.squad/agents'))).sort()).toEqual([
      '_coordinator/charter.md',
      'ann-2/charter.md',
      'ann/charter.md',
      'etc/charter.md',
      'member/charter.md',
      'säge-söhne/charter.md',
      'worker-1/charter.md',
    ]);
    expect((await presetIn(project.root)).workers.map(({ name }) => name)).toEqual([
      'worker-1',
      'Säge & Söhne',
      'etc',
      '🤖',
      'Ann',
      'ann-2',
    ]);
    expect(Object.keys(await filesOf(project.root)).every((file) => file.startsWith('.squad/'))).toBe(true);
  });

  it.each([
    ['Code Review Team-worker-1', 'worker-1'],
    ['code review team: Ann', 'Ann'],
    ['Code Review Teamster', 'Code Review Teamster'],
    ['Code Review Team', 'Code Review Team'],
  ])('%s is called %s', (name, plain) => expect(withoutTeam(name, 'Code Review Team')).toBe(plain));

  it('gets a role from the charter when nobody says one', async () => {
    await using project = await temporaryProject();
    await write(project.root, preset({ workers: [{ name: 'Ann', charter: 'You are a security auditor. Look.' }] }));
    expect((await presetIn(project.root)).workers[0]?.role).toBe('security auditor');
  });

  it('says which workers Squad would not give tasks to', async () => {
    await using project = await temporaryProject();
    const result = await writeSquad(project.root, preset({ workers: [{ name: 'Scribe' }, { name: 'Ann' }] }));
    expect(result.ok && result.value.warnings).toEqual([expect.stringContaining('"Scribe"')]);
  });
});

describe('a team that is there', () => {
  it('keeps every byte when nothing changed', async () => {
    await using project = await copyOfHousehold();
    const before = await filesOf(project.root);
    expect(await write(project.root, await presetIn(project.root))).toEqual([]);
    expect(await filesOf(project.root)).toEqual(before);
  });

  it('also when models are called otherwise here or not known', async () => {
    await using project = await copyOfHousehold();
    const before = await filesOf(project.root);
    const knownModel = (model: string): boolean => model.startsWith('anthropic/');
    const { team } = await readSquad(project.root, { knownModel });
    if (team === undefined) throw new Error('no team');
    expect(await writeSquad(project.root, team.preset, { knownModel })).toMatchObject({ ok: true, value: { files: [] } });
    expect(await filesOf(project.root)).toEqual(before);
  });

  it('takes a new worker, role, charter, model, mode and decision, and keeps the rest to the byte', async () => {
    await using project = await copyOfHousehold();
    const before = await filesOf(project.root);
    const was = await presetIn(project.root);
    const [ripley, dallas, ...others] = was.workers;
    if (ripley === undefined || dallas === undefined) throw new Error('no workers');
    const workers = [
      { ...ripley, role: 'Chief' },
      {
        ...dallas,
        charter: dallas.charter?.replace('## Voice\n\nSays what is, then what to do.', '## Voice\n\nSings.') ?? '',
        model: 'gpt-5.2',
      },
      ...others.slice(1),
      { name: 'Call', role: 'Newcomer', charter: 'You are new.' },
    ];
    const decision = '### 26. Tabs (Call, 2026-07-09)\n\nWe use tabs.';
    const wanted = { ...was, workers, sharedContext: `${decision}\n\n${was.sharedContext ?? ''}`, mode: 'broadcast' as const };
    const files = await write(project.root, wanted);
    expect(files).toEqual([
      '.squad/agents/dallas/charter.md',
      '.squad/agents/call/charter.md',
      '.squad/decisions.md',
      '.squad/config.json',
      '.squad/team.md',
    ]);

    const after = await filesOf(project.root);
    const now = await presetIn(project.root);
    expect(now.workers).toEqual(workers);
    expect(now.mode).toBe('broadcast');
    expect(now.sharedContext).toContain('We use tabs.');
    for (const [file, text] of Object.entries(before)) if (!files.includes(file)) expect(after[file]).toBe(text);

    const team = after['.squad/team.md'] ?? '';
    for (const line of before['.squad/team.md']?.split('\n') ?? []) {
      if (!/^\| (Ripley|Lambert|---)|^\|---|^\|------/.test(line)) expect(team.split('\n')).toContain(line);
    }
    expect(team).toContain('| Ripley | Chief | .squad/agents/ripley/charter.md | 🏗️ Active |');
    expect(team).not.toContain('Lambert');
    expect(team).toMatch(/# Team Roster\n\nmode: broadcast\n/);
    expect(after['.squad/agents/lambert/history.md']).toBe(before['.squad/agents/lambert/history.md']);
    expect(after['.squad/agents/dallas/charter.md']).toBe(
      before['.squad/agents/dallas/charter.md']?.replace('Says what is, then what to do.', 'Sings.'),
    );
    const decisions = before['.squad/decisions.md'] ?? '';
    expect(after['.squad/decisions.md']).toBe(
      decisions.replace('## Active Decisions\n\n', `## Active Decisions\n\n${decision}\n\n`),
    );
    expect(JSON.parse(after['.squad/config.json'] ?? '')).toMatchObject({
      stateBackend: 'local',
      agentModelOverrides: { bishop: 'gpt-5.2', dallas: 'gpt-5.2' },
    });
  });

  it('gets the canonical table when it has another one; further columns and silent members stay', async () => {
    const members =
      '| Status | Member | Role | Mood |\n|---|---|---|---|\n| 📋 Silent | Scribe | **logs** | quiet |\n| 🏗️ Busy | Ann | **Lead** | good |\n';
    await using project = await temporaryProject({
      '.squad/team.md': `# T\n\nHello.\n\n${members}\nBye.\n`,
      '.squad/agents/ann/charter.md': 'You lead.',
    });
    const was = await presetIn(project.root);
    expect(await write(project.root, was)).toEqual(['.squad/team.md']);
    expect(await readFile(join(project.root, '.squad/team.md'), 'utf8')).toBe(
      '# T\n\nHello.\n\n## Members\n\n| Name | Role | Charter | Status | Mood |\n|---|---|---|---|---|\n' +
        '| Ann | **Lead** | `.squad/agents/ann/charter.md` | 🏗️ Busy | good |\n| Scribe | **logs** | — | 📋 Silent | quiet |\n\nBye.\n',
    );
    expect(await presetIn(project.root)).toEqual(was);
  });

  it('keeps the headings of members and puts the table above them', async () => {
    const text =
      '# T\r\n\r\n## Members\r\n\r\n### Ann\r\n\r\n- **Role:** Lead\r\n- **Skills:** many\r\n- **Model:** x-1\r\n\r\n## End\r\n';
    await using project = await temporaryProject({ '.squad/team.md': `\ufeff${text}` });
    const was = await presetIn(project.root);
    await write(project.root, was);
    const table = '| Name | Role | Charter | Status |\r\n|---|---|---|---|\r\n| Ann | Lead | — | ✅ Active |\r\n';
    expect(await readFile(join(project.root, '.squad/team.md'), 'utf8')).toBe(
      `\ufeff${text.replace('## Members\r\n', `## Members\r\n\r\n${table}`)}`,
    );
    expect(await presetIn(project.root)).toEqual(was);
  });

  it('keeps what is beyond the limit of a charter, also when the charter changes', async () => {
    const words = 'word '.repeat(limits.charterCharacters / 5);
    const long = `# Ann\n\n## Start\n\nfirst\n\n## Long\n\n${words}\n\n## Tail\n\nTHE-END\n`;
    await using project = await temporaryProject({
      '.squad/team.md': '## Members\n\n| Name | Role | Charter | Status |\n|---|---|---|---|\n| Ann | a | — | |\n',
      '.squad/agents/ann/charter.md': long,
    });
    const was = await presetIn(project.root);
    expect(was.workers[0]?.charter).not.toContain('THE-END');
    expect(await write(project.root, was)).toEqual([]);
    const workers = was.workers.map((worker) => ({ ...worker, charter: worker.charter?.replace('first', 'second') ?? '' }));
    await write(project.root, { ...was, workers });
    expect(await readFile(join(project.root, '.squad/agents/ann/charter.md'), 'utf8')).toBe(long.replace('first', 'second'));
  });

  it('keeps the title and the other sections of a charter that is replaced by prose', async () => {
    const charter = '# Ann — Lead\n\nOld words.\n\n## Voice\n\nShort.\n';
    await using project = await temporaryProject({
      '.squad/team.md': '## Members\n\n| Name | Role |\n|---|---|\n| Ann | a |\n',
      '.squad/agents/ann/charter.md': charter,
    });
    const was = await presetIn(project.root);
    await write(project.root, { ...was, workers: [{ name: 'Ann', role: 'a', charter: 'New words.' }] });
    expect(await readFile(join(project.root, '.squad/agents/ann/charter.md'), 'utf8')).toBe(charter.replace('Old', 'New'));
  });

  it('stays in .ai-team when that is where it is', async () => {
    await using project = await temporaryProject({
      '.ai-team/team.md': '# T\n\n## Members\n\n| Name | Role |\n|---|---|\n| Ann | a |\n',
    });
    expect(
      await write(project.root, { ...(await presetIn(project.root)), workers: [{ name: 'Bob', role: 'b', charter: 'x' }] }),
    ).toEqual(['.ai-team/agents/bob/charter.md', '.ai-team/team.md']);
    expect(await readFile(join(project.root, '.ai-team/team.md'), 'utf8')).toContain('`.ai-team/agents/bob/charter.md`');
  });

  it('is left alone when a file of it cannot be read or leads out', async () => {
    await using project = await copyOfHousehold();
    await using other = await temporaryProject({ 'x.md': 'x' });
    const was = await presetIn(project.root);
    await writeFile(join(project.root, '.squad/config.json'), '{');
    const models = await writeSquad(project.root, {
      ...was,
      workers: was.workers.map((worker) => ({ ...worker, model: 'other' })),
    });
    expect(models).toMatchObject({ ok: false, error: { message: expect.stringContaining('config.json') } });
    await symlink(other.root, join(project.root, '.squad/agents/call'));
    const away = await writeSquad(project.root, { ...was, workers: [...was.workers, { name: 'Call', charter: 'x' }] });
    expect(away.ok).toBe(false);
    expect(await readdir(other.root)).toEqual(['x.md']);
    expect(await readFile(join(project.root, '.squad/team.md'), 'utf8')).toBe(
      await readFile(join(household, '.squad/team.md'), 'utf8'),
    );
  });
});
