import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../../base/limits.ts';
import type { GroupPreset } from '../presets/preset.ts';
import { readCharter } from './charter.ts';
import { readSquad } from './read.ts';
import { readRoster } from './roster.ts';

const household = join(import.meta.dirname, '../../../test/fixtures/squad/household');

const team = (rows: string, header = '| Name | Role | Charter | Status |\n|---|---|---|---|'): string =>
  `# The Team\n\n## Members\n\n${header}\n${rows}\n`;

async function read(files: Record<string, string>, folder = '.squad') {
  const placed = Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
  await using project = await temporaryProject(placed);
  const { team: found, warnings } = await readSquad(project.root);
  return { preset: found?.preset, warnings: warnings.map(({ file, line, message }) => `${file}:${line} ${message}`) };
}

const namesOf = (preset: GroupPreset | undefined): readonly string[] | undefined => preset?.workers.map(({ name }) => name);

describe('a real team of twelve', () => {
  it('has twelve rows and ten workers: neither Scribe nor Ralph, nor coordinator, coding agent or header', async () => {
    const { team: found, warnings } = await readSquad(household);
    expect(warnings).toEqual([]);
    expect(namesOf(found?.preset)).toEqual([
      'Ripley',
      'Dallas',
      'Lambert',
      'Kane',
      'Parker',
      'Brett',
      'Ash',
      'Hicks',
      'Bishop',
      'Newt',
    ]);
    expect(found?.preset).toMatchObject({
      name: 'Team Roster',
      mode: 'reflect',
      source: { tier: 'repo', path: join(household, '.squad') },
    });
    expect(found?.preset.description).toContain('argues before it commits');
  });

  it('takes charters, models and roles with extra words as they are', async () => {
    const { team: found } = await readSquad(household);
    const [ripley, dallas, lambert] = found?.preset.workers ?? [];
    expect(ripley).toMatchObject({ role: 'Lead / Eval Architect', model: 'claude-opus-4.6' });
    expect(ripley?.charter).toMatch(/^# Ripley — Lead \/ Eval Architect\n/);
    expect(dallas?.model).toBeUndefined();
    expect(lambert?.role).toBe('Home Automation Specialist — model lock: claude-sonnet-4.5');
    expect(found?.preset.workers.find(({ name }) => name === 'Bishop')?.model).toBe('gpt-5.2');
  });

  it('cuts decisions between entries and keeps the newest, though they are not strictly sorted', async () => {
    const { team: found } = await readSquad(household);
    const shared = found?.preset.sharedContext ?? '';
    expect(shared.length).toBeLessThanOrEqual(limits.contextCharacters);
    const dates = [...shared.matchAll(/^### .*(\d{4}-\d{2}-\d{2})\)$/gm)].map((match) => match[1] ?? '');
    expect(dates.length).toBeGreaterThan(4);
    expect(dates[0]).toBe('2026-07-01');
    expect(dates.every((date) => date >= '2026-06-01')).toBe(true);
    expect(shared.trimEnd()).toMatch(/\*\*References:\*\* [#\d, ]+$/);
    expect(found?.preset.routingContext).toContain('## Review Gate');
  });

  it('falls back with a warning for models that nobody knows', async () => {
    const { team: found, warnings } = await readSquad(household, { knownModel: (model) => model.startsWith('anthropic/') });
    expect(found?.preset.workers.map(({ model }) => model).filter(Boolean)).toEqual([
      'anthropic/claude-opus-4-6',
      'anthropic/claude-sonnet-4-5',
      'anthropic/claude-haiku-4-5',
    ]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('"Bishop" of "Team Roster" asks for the model "gpt-5.2"'),
    ]);
  });
});

describe('where the team is', () => {
  it('.squad counts before .ai-team, which is read when it is the only one', async () => {
    const both = { '.squad/team.md': team('| New | x | — | |'), '.ai-team/team.md': team('| Old | x | — | |') };
    await using project = await temporaryProject(both);
    expect(namesOf((await readSquad(project.root)).team?.preset)).toEqual(['New']);
    const legacy = await read(
      { 'team.md': team('| Old | x | .ai-team/agents/old/charter.md | |'), 'agents/old/charter.md': 'You are old.' },
      '.ai-team',
    );
    expect(legacy).toMatchObject({ preset: { workers: [{ name: 'Old', charter: 'You are old.' }] }, warnings: [] });
  });

  it('a folder that was renamed still finds charters under the old path', async () => {
    const files = {
      'team.md': team('| Old | x | `.ai-team/agents/old/charter.md` | |'),
      'agents/old/charter.md': 'You are old.',
    };
    expect((await read(files)).preset?.workers).toMatchObject([{ charter: 'You are old.' }]);
  });

  it('no folder, no team.md and a file in its place are no team', async () => {
    await using project = await temporaryProject({ '.ai-team': 'a file' });
    await project.write('.squad/routing.md', '# Routing');
    const { team: found } = await readSquad(project.root);
    expect(found).toBeUndefined();
  });
});

describe('the roster of a squad', () => {
  it.each([
    ['Member as header', '| Member | Role |\n|---|---|\n| Ripley | Lead |'],
    ['columns in another order', '| Status | Role | Name |\n|:--|:-:|--:|\n| ✅ Active | Lead | Ripley |'],
    ['ornament', '| Name | Role |\n|---|---|\n| 🏗️ **Ripley** | **Lead** |'],
    [
      'a link',
      '| Name | Role | Charter |\n|---|---|---|\n| [Ripley](agents/ripley/charter.md) | Lead | [charter](agents/ripley/charter.md) |',
    ],
    ['a repeated header', '| Name | Role |\n|---|---|\n| Name | Role |\n| Ripley | Lead |\n| Member | Role |'],
    [
      'templates and comments',
      '<!--\n| Name | Role |\n|---|---|\n| Nobody | x |\n-->\n| Name | Role |\n|---|---|\n| {Name} | {Role} |\n| Ripley | Lead |',
    ],
    ['headings instead of a table', '### Ripley\n\n- **Role:** Lead\n- **Model:** auto'],
    ['headings with roles', '### 🏗️ Ripley — Lead\n\nSkills: many'],
    [
      'an example in code',
      '```\n| Name | Role |\n|---|---|\n| Nobody | x |\n```\n\n| Name | Role |\n|---|---|\n| Ripley | Lead |',
    ],
  ])('understands %s', (_what, members) => {
    const table = (row: string): string => `| Name | Role |\n|---|---|\n${row}\n\n`;
    const coordinator = `## Coordinator\n\n${table('| Squad | Coordinator |')}`;
    const text = `# T\n\n${coordinator}## Members\n\n${members}\n\n## Other\n\n${table('| X | y |')}`;
    for (const variant of [
      text,
      text.replaceAll('\n', '\r\n'),
      `\ufeff${text}`,
      text.replace('## Members', '## 👥 Members ##'),
    ]) {
      const roster = readRoster(variant, 'team.md');
      expect(roster.members).toMatchObject([{ name: 'Ripley', role: 'Lead' }]);
      expect([roster.title, roster.warnings]).toEqual(['T', []]);
    }
  });

  it('of the original, without the heading, is read with a warning; other tables are not', () => {
    const { members, warnings } = readRoster('# T\n\n| Member | Role |\n|---|---|\n| a | b |\n', 'team.md');
    expect([members.length, warnings.map(({ message }) => message)]).toEqual([
      1,
      [expect.stringContaining('no "## Members" heading')],
    ]);
    expect(readRoster('# T\n\n## Team\n\n| Member | Role |\n|---|---|\n| a | b |\n', 'team.md').members).toEqual([]);
    expect(readRoster('# T\n\n| Label | Who |\n|---|---|\n| a | b |\n', 'team.md').members).toEqual([]);
  });

  it.each(['Scribe', '_scribe', 'Ralph', '@copilot', 'Coordinator', 'Squad', 'Rai', 'Fact Checker'])(
    '%s is never a worker',
    async (name) => {
      const { preset } = await read({ 'team.md': team(`| ${name} | x | — | ✅ Active |\n| Ripley | Lead | — | ✅ Active |`) });
      expect(namesOf(preset)).toEqual(['Ripley']);
    },
  );

  it.each(['📋 Silent', '🔄 Monitor', '🛡️ RAI', '🔍 Verifier', '🎓 Alumni'])(
    'nobody with status %s is a worker',
    async (status) => {
      const { preset } = await read({ 'team.md': team(`| Zed | x | — | ${status} |\n| Ripley | Lead | — | anything |`) });
      expect(namesOf(preset)).toEqual(['Ripley']);
    },
  );

  it('without members yet is no team, and says so', async () => {
    expect(await read({ 'team.md': team('') })).toEqual({
      preset: undefined,
      warnings: ['.squad/team.md:1 the team has no members that work yet'],
    });
  });

  it('names somebody twice: the first counts', async () => {
    const { preset, warnings } = await read({ 'team.md': team('| Ripley | a | — | |\n| ripley | b | — | |') });
    expect([preset?.workers.map(({ role }) => role), warnings]).toEqual([['a'], ['.squad/team.md:8 "ripley" is a member twice']]);
  });

  it.each([
    ['mode: broadcast', 'broadcast'],
    ['Mode: `Sequential`', 'sequential'],
    ['- **Mode:** orchestrator', 'orchestrator'],
    ['mode: orchestrator-reflect', 'reflect'],
    ['The mode: broadcast is not meant here', 'reflect'],
    ['```\nmode: broadcast\n```', 'reflect'],
  ])('%s is %s', async (line, mode) => {
    expect((await read({ 'team.md': `${team('| Ripley | Lead | — | |')}\n${line}\n` })).preset?.mode).toBe(mode);
  });

  it('with an unknown mode reflects, and says so', async () => {
    const { preset, warnings } = await read({ 'team.md': `${team('| Ripley | Lead | — | |')}\nmode: quantum\n` });
    expect([preset?.mode, warnings]).toEqual(['reflect', ['.squad/team.md:9 unknown mode "quantum": reflect is used']]);
  });

  it('whatever the file is, reading does not throw, and headers are never agents', () => {
    const piece = fc.constantFrom(
      '# T\n',
      '## Members\n',
      '### Name\n',
      '| Name | Role |\n',
      '|---|---|\n',
      '| a | b |\n',
      '| Member |\n',
      '```\n',
      '<!--',
      '\r\n',
      '|',
      'mode: x\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        const { members } = readRoster(pieces.join(''), 'team.md');
        expect(members.filter(({ name }) => /^(name|member|agent)$/i.test(name))).toEqual([]);
      }),
    );
  });
});

describe('charters of a squad', () => {
  it('are cut at 4,000 characters without splitting one', () => {
    const cut = readCharter(`${'x'.repeat(limits.charterCharacters - 1)}🎭 and more`);
    expect([cut.text, cut.cut]).toEqual(['x'.repeat(limits.charterCharacters - 1), true]);
    const whole = readCharter(`${'x'.repeat(limits.charterCharacters - 2)}🎭`);
    expect([whole.text.length, whole.cut]).toEqual([limits.charterCharacters, false]);
  });

  it.each([
    ['## Model\n\n- **Preferred:** claude-opus-4.6\n- **Fallback:** x', 'claude-opus-4.6'],
    ['## Model\n\n**Preferred:** `gpt-5.1` (locked)', 'gpt-5.1'],
    ['## Model\r\n\r\nPreferred: claude-haiku-4.5\r\n', 'claude-haiku-4.5'],
    ['### Model\n\nclaude-sonnet-4.5\n', 'claude-sonnet-4.5'],
    ['## Model\n\n- **Preferred:** auto\n- **Rationale:** cost first', undefined],
    ['## Model\n\nWhatever fits the task.', undefined],
    ['**Preferred:** tea', undefined],
  ])('%j asks for %s', (text, model) => expect(readCharter(`# A — B\n\n${text}`).model).toBe(model));

  it('may be prose, may be missing, and may stand where the row does not say', async () => {
    const files = {
      'team.md': team(
        '| Ann | writes | — | |\n| Bob | | agents/bob/charter.md | |\n| Cy | tests | `.squad/agents/cy/charter.md` | |',
      ),
      'agents/ann/charter.md': '\ufeffYou write.\r\nWell.\r\n',
      'agents/bob/charter.md': '# Bob — Builder\n\nBuilds.',
    };
    const { preset, warnings } = await read(files);
    expect(preset?.workers).toEqual([
      { name: 'Ann', role: 'writes', charter: 'You write.\nWell.' },
      { name: 'Bob', role: 'Builder', charter: '# Bob — Builder\n\nBuilds.' },
      { name: 'Cy', role: 'tests' },
    ]);
    expect(warnings).toEqual(['.squad/team.md:9 the charter of "Cy" is not there: its role is all that is known of it']);
  });

  it('without a row take no part, and it is said; alumni and silent ones are not missed', async () => {
    const files = {
      'team.md': team('| Ann | writes | — | |'),
      'agents/zoe/charter.md': 'x',
      'agents/_alumni/old/charter.md': 'x',
      'agents/scribe/charter.md': 'x',
    };
    const { preset, warnings } = await read(files);
    expect([namesOf(preset), warnings]).toEqual([
      ['Ann'],
      ['.squad/team.md:1 agents/zoe has no row in the roster and takes no part'],
    ]);
  });

  it.each([
    '../../secret.md',
    '.squad/../../secret.md',
    '/etc/passwd',
    'C:\\secret.md',
    'agents\\..\\..\\..\\secret.md',
    '`../secret.md`',
  ])('at %s are refused', async (path) => {
    await using project = await temporaryProject({
      'secret.md': 'SECRET',
      '.squad/team.md': team(`| Ann | writes | ${path} | |`),
    });
    const { team: found, warnings } = await readSquad(project.root);
    expect(JSON.stringify(found)).not.toContain('SECRET');
    expect(found?.preset.workers).toEqual([{ name: 'Ann', role: 'writes' }]);
    expect(warnings.map(({ message }) => message)).toEqual(['the charter of "Ann" leads out of the folder and is not read']);
  });

  it('behind a link that leads out are refused, and so is a whole folder', async () => {
    await using project = await temporaryProject({
      'secret.md': 'SECRET',
      '.squad/team.md': team('| Ann | writes | agents/ann/charter.md | |'),
      'away/charter.md': 'SECRET',
    });
    await project.write('.squad/agents/x/y', '');
    await symlink(join(project.root, 'away'), join(project.root, '.squad/agents/ann'));
    await symlink(join(project.root, 'secret.md'), join(project.root, '.squad/decisions.md'));
    const { team: found, warnings } = await readSquad(project.root);
    expect(JSON.stringify(found)).not.toContain('SECRET');
    expect(warnings.map(({ message }) => message)).toContain('is outside the project folder');

    await using other = await temporaryProject();
    await symlink(join(project.root, '.squad'), join(other.root, '.squad'));
    const outside = await readSquad(other.root);
    expect([outside.team, outside.warnings.length]).toEqual([undefined, 1]);
  });

  it('that are too large or not text are left out with a warning', async () => {
    const files = {
      'team.md': team('| Ann | writes | — | |'),
      'agents/ann/charter.md': 'x'.repeat(limits.agentFileBytes + 1),
      'routing.md': 'a\0b',
    };
    const { preset, warnings } = await read(files);
    expect(preset?.workers).toEqual([{ name: 'Ann', role: 'writes' }]);
    expect(warnings).toEqual([expect.stringContaining('limit agentFileBytes'), expect.stringContaining('binary')]);
  });
});

describe('models of a squad', () => {
  const files = {
    'team.md': team('| Ann | a | — | |\n| Bob | b | — | |\n| Cy | c | — | |'),
    'agents/ann/charter.md': '# Ann\n\n## Model\n\n- **Preferred:** from-charter-1',
    'agents/bob/charter.md': '# Bob\n\n## Model\n\n- **Preferred:** from-charter-2',
  };
  const modelsWith = async (config: unknown) =>
    (await read({ ...files, 'config.json': typeof config === 'string' ? config : JSON.stringify(config) })).preset?.workers.map(
      ({ model }) => model,
    );

  it('an override counts before the default, and that before the charter', async () => {
    expect(await modelsWith({})).toEqual(['from-charter-1', 'from-charter-2', undefined]);
    expect(await modelsWith({ defaultModel: 'everybody' })).toEqual(['everybody', 'everybody', 'everybody']);
    expect(await modelsWith({ defaultModel: 'everybody', agentModelOverrides: { ANN: 'mine', bob: 'auto' } })).toEqual([
      'mine',
      undefined,
      'everybody',
    ]);
    expect(await modelsWith({ defaultModel: 'auto', agentModelOverrides: 7 })).toEqual([
      'from-charter-1',
      'from-charter-2',
      undefined,
    ]);
  });

  it('a broken config.json is a warning', async () => {
    expect(await modelsWith('{')).toEqual(['from-charter-1', 'from-charter-2', undefined]);
    expect((await read({ ...files, 'config.json': '[]' })).warnings).toEqual(['.squad/config.json:1 is not an object']);
  });
});

describe('routing rules of a squad', () => {
  it.each([
    '## Routing Table\n\n| Work Type | Route To | Examples |\n|---|---|---|\n| x | **Ann** | "y" |',
    '## Work Type → Agent\n\n| Work Type | Primary | Secondary |\n|---|---|---|\n| x | Ann, Bob | |',
    '## Work Type Rules\n\n| Work | Primary Agent | Fallback |\n|---|---|---|',
    'Just ask Ann.',
  ])('reaches the orchestrator in whatever form: %j', async (text) => {
    expect((await read({ 'team.md': team('| Ann | a | — | |'), 'routing.md': text })).preset?.routingContext).toBe(text);
  });

  it('that is too long keeps its beginning, where the table is', async () => {
    const rules = Array.from({ length: 40 }, (_, index) => `## Rule ${index}\n\n${'word '.repeat(60)}`).join('\n\n');
    const { preset } = await read({ 'team.md': team('| Ann | a | — | |'), 'routing.md': rules });
    expect(preset?.routingContext).toMatch(/^## Rule 0\n/);
    expect(preset?.routingContext?.length).toBeLessThanOrEqual(limits.contextCharacters);
  });
});
