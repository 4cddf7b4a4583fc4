/** What holds for every team: reading, writing and reading again gives the same, and nobody else's words are touched. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { type GroupPreset, groupModes, type PresetWorker, plainName } from '../presets/preset.ts';
import { readSquad } from './read.ts';
import { writeSquad } from './write.ts';

const RUNS = 100;
/** Every run touches the disk. */
const LONG = 60_000;

const name = fc.constantFrom(
  'Ann',
  'Bob Smith',
  'Zoë',
  'worker-1',
  'worker-10',
  '李雷',
  'Scribe',
  'Ralph',
  '@copilot',
  '🏗️ Dallas',
  '**Kim**',
);
const word = fc.constantFrom('Lead', 'Lead / **Eval**', 'tests `x`', 'a \\| b', '', 'naïve 🎭', 'You are a reader. Yes.');
const status = fc.constantFrom('✅ Active', '📋 Silent', '🔄 Monitor', '', '🏗️ Busy', 'Retired');
const path = fc.constantFrom(
  '—',
  '',
  '`.squad/agents/ann/charter.md`',
  '.squad/agents/bob-smith/charter.md',
  '../../x.md',
  'agents/none/charter.md',
);
const prose = fc.constantFrom(
  '',
  'Words.\n',
  '> quoted\n',
  'mode: broadcast\n',
  '- **Mode:** `sequential`\n',
  'mode: odd\n',
  '<!-- note -->\n',
  '| A | B |\n|---|---|\n| c | d |\n',
  '```\n## Members\n```\n',
  '- item  \n\n\n',
);
const unknownSection = fc
  .tuple(fc.constantFrom('Coordinator', 'Coding Agent', 'Project Context', 'Notes'), prose, prose)
  .map(([title, one, two]) => `## ${title}\n\n${one}\n${two}\n`);

const row = fc.record({ name, role: word, charter: path, status, more: word });
const table = fc
  .tuple(fc.array(row, { maxLength: 6 }), fc.constantFrom('canonical', 'member', 'shuffled', 'more'))
  .map(([rows, style]) => {
    const headers =
      {
        canonical: 'Name Role Charter Status',
        member: 'Member Role',
        shuffled: 'Status Charter Name Role',
        more: 'Name Role Charter Status Mood',
      }[style] ?? '';
    const columns = headers.split(' ');
    const cells = rows.map((one) =>
      columns.map(
        (column) =>
          ({ Name: one.name, Member: one.name, Role: one.role, Charter: one.charter, Status: one.status, Mood: one.more })[
            column
          ] ?? '',
      ),
    );
    return [columns, columns.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
  });
const headings = fc
  .array(row, { maxLength: 4 })
  .map((rows) =>
    rows.map((one) => `### ${one.name}\n\n- **Role:** ${one.role}\n- **Charter:** ${one.charter}\n- Skills: many\n\n`).join(''),
  );

const teamFile = fc
  .record({
    title: fc.constantFrom('# Team Roster\n', '# **My** Team\n\n', ''),
    opening: prose,
    heading: fc.constantFrom('## Members\n\n', '## 👥 Members\n', ''),
    members: fc.oneof(table, headings),
    after: prose,
    before: fc.array(unknownSection, { maxLength: 2 }),
    behind: fc.array(unknownSection, { maxLength: 2 }),
    windows: fc.boolean(),
    mark: fc.boolean(),
  })
  .map(({ title, opening, heading, members, after, before, behind, windows, mark }) => {
    const text =
      heading === ''
        ? `${title}\n${opening}\n${members}\n${after}\n${[...before, ...behind].join('')}`
        : `${title}\n${opening}\n${before.join('')}${heading}${members}\n${after}\n${behind.join('')}`;
    return {
      text: `${mark ? '\ufeff' : ''}${windows ? text.replaceAll('\n', '\r\n') : text}`,
      unknown: [...before, ...behind].map((one) => (windows ? one.replaceAll('\n', '\r\n') : one)),
    };
  });

const charter = fc.constantFrom(
  'You read.',
  '# Ann — Lead\n\nWords.\n\n## Model\n\n- **Preferred:** x-1\n\n## Voice\n\nShort.\n',
  '\ufeff# A\r\n\r\n## B\r\n\r\nc\r\n',
  '',
);
const extras = fc.record(
  {
    'agents/ann/charter.md': charter,
    'agents/bob-smith/charter.md': charter,
    'agents/ann/history.md': fc.constant('# History\n'),
    'agents/stranger/charter.md': charter,
    'agents/_coordinator/charter.md': charter,
    'config.json': fc.constantFrom('{}', '{"defaultModel": "d-1", "later": [1]}', '{"agentModelOverrides": {"ann": "o-1"}}', '{'),
    'decisions.md': fc.constantFrom('# Decisions\n\n### 2026-01-01: A\n\nx\n', 'plain', ''),
    'routing.md': fc.constantFrom('# Routing\n\n## Rules\n\n1. x\n', ''),
    'casting/registry.json': fc.constant('{"agents": {}}'),
  },
  { requiredKeys: [] },
);

async function filesOf(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [relative(root, file), await readFile(file, 'utf8')])));
}

async function place(root: string, files: Readonly<Record<string, string | undefined>>): Promise<void> {
  await rm(join(root, '.squad'), { recursive: true, force: true });
  for (const [file, text] of Object.entries(files)) {
    if (text === undefined) continue;
    await mkdir(dirname(join(root, '.squad', file)), { recursive: true });
    await writeFile(join(root, '.squad', file), text);
  }
}

describe('any team', () => {
  it(
    'reads the same after it was written back; what is not the roster stays, byte by byte',
    async () => {
      await using project = await temporaryProject();
      let teams = 0;
      await fc.assert(
        fc.asyncProperty(teamFile, extras, async ({ text, unknown }, more) => {
          await place(project.root, { ...more, 'team.md': text });
          const first = await readSquad(project.root);
          if (first.team === undefined) return;
          teams += 1;
          const before = await filesOf(project.root);
          expect(await writeSquad(project.root, first.team.preset)).toMatchObject({ ok: true });
          const after = await filesOf(project.root);
          expect((await readSquad(project.root)).team?.preset).toEqual(first.team.preset);
          for (const section of unknown) expect(after['.squad/team.md']).toContain(section);
          const { '.squad/team.md': _, ...rest } = after;
          const { '.squad/team.md': __, ...was } = before;
          expect(rest).toEqual(was);
          expect(await writeSquad(project.root, first.team.preset)).toMatchObject({ ok: true, value: { files: [] } });
        }),
        { numRuns: RUNS },
      );
      expect(teams).toBeGreaterThan(RUNS / 4);
    },
    LONG,
  );

  it(
    'reads as what it was changed to, and the sections of others stay',
    async () => {
      await using project = await temporaryProject();
      const role = fc.constantFrom('Chief', 'tests things', 'a | b');
      const newcomer = fc.record({
        name: fc.constantFrom('Call', 'Team Roster-worker-2', 'Vriess Ø'),
        role,
        charter: fc.constant('You are new.'),
      });
      const change = fc.record({
        drop: fc.boolean(),
        role,
        mode: fc.constantFrom(...groupModes),
        title: fc.constantFrom('Team Roster', 'Other'),
        newcomer,
        reverse: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(teamFile, extras, change, async ({ text, unknown }, more, wanted) => {
          await place(project.root, { ...more, 'team.md': text });
          const { team } = await readSquad(project.root);
          if (team === undefined) return;
          const [head, ...tail] = team.preset.workers.map((worker) => ({ ...worker, role: worker.role ?? 'x' }));
          const kept: PresetWorker[] = wanted.drop || head === undefined ? tail : [{ ...head, role: wanted.role }, ...tail];
          const ordered = wanted.reverse ? kept.toReversed() : kept;
          const workers = [...ordered, { ...wanted.newcomer, ...(modelForAll(more['config.json']) ?? {}) }];
          const preset: GroupPreset = { ...team.preset, name: wanted.title, mode: wanted.mode, workers };
          const before = await filesOf(project.root);
          const written = await writeSquad(project.root, preset);
          expect(written).toMatchObject({ ok: true });
          const read = (await readSquad(project.root)).team?.preset;
          const plain = workers.map((worker) => ({
            ...worker,
            name: worker.name.replace('Team Roster-', wanted.title === 'Team Roster' ? '' : 'Team Roster-'),
            role: (worker.role ?? '').replaceAll(/\*\*|`/g, ''),
          }));
          expect(read).toEqual({ ...preset, workers: plain });
          const after = await filesOf(project.root);
          for (const section of unknown.filter((one) => !/mode/i.test(one))) expect(after['.squad/team.md']).toContain(section);
          const files = written.ok ? written.value.files : [];
          for (const [file, content] of Object.entries(before)) if (!files.includes(file)) expect(after[file]).toBe(content);
        }),
        { numRuns: RUNS },
      );
    },
    LONG,
  );

  it(
    'that is new reads as what was written',
    async () => {
      await using project = await temporaryProject();
      const plainText = fc
        .stringMatching(/^[A-Za-zäß][A-Za-z0-9 äß🎭.,|-]{0,30}[a-z0-9]$/u)
        .map((text) => text.replaceAll(/ +/g, ' '));
      const worker = fc.record({ name: plainText, role: plainText, charter: plainText }, { requiredKeys: ['name', 'role'] });
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            name: plainText,
            description: plainText,
            mode: fc.constantFrom(...groupModes),
            orchestrator: fc.record({ prompt: plainText }, { requiredKeys: [] }),
          }),
          fc.uniqueArray(worker, { minLength: 1, maxLength: 5, selector: (one) => plainName(one.name) }),
          async (head, workers) => {
            fc.pre(
              workers.every(
                (one) =>
                  !/^(scribe|ralph|rai|name|member|agent|squad)$/i.test(one.name) &&
                  !one.name.toLowerCase().startsWith(head.name.toLowerCase()),
              ),
            );
            await place(project.root, {});
            const preset: GroupPreset = { ...head, workers, source: { tier: 'repo', path: join(project.root, '.squad') } };
            expect(await writeSquad(project.root, preset)).toMatchObject({ ok: true });
            expect((await readSquad(project.root)).team?.preset).toEqual(preset);
          },
        ),
        { numRuns: RUNS },
      );
    },
    LONG,
  );
});

/** A newcomer has the model that the team has for all, or the file would have to say otherwise. */
function modelForAll(config: string | undefined): { readonly model: string } | undefined {
  return config?.includes('d-1') === true ? { model: 'd-1' } : undefined;
}
