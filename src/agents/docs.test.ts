import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { checkProject } from './check-project.ts';
import { knownKeysAt } from './definition/json-schema.ts';
import { BUILT_IN_TOOLS } from './definition/tool-names.ts';
import { BUILT_IN_VARIABLES } from './definition/variables.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/agents.md'), 'utf8');

describe('the page about agents', () => {
  it('has a row for every key', () => {
    expect(knownKeysAt([]).filter((key) => !page.includes(`\n| \`${key}\` |`))).toEqual([]);
    for (const pattern of ['team', 'group', 'dispatch', 'architect']) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${pattern}\``)) ?? '';
      expect(knownKeysAt([pattern]).filter((key) => !row.includes(key))).toEqual([]);
    }
  });

  it('names every tool and variable', () => {
    expect([...BUILT_IN_TOOLS, ...BUILT_IN_VARIABLES].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('shows an agent that is right', async () => {
    const [, example = ''] = /```markdown\n(.*?)```/s.exec(page) ?? [];
    await using project = await temporaryProject({ 'agents/reviewer.md': example });
    const { agents, diagnostics } = await checkProject({ projectRoot: project.root });
    expect(diagnostics).toEqual([]);
    expect(agents.map(({ definition }) => definition.name)).toEqual(['reviewer']);
  });
});
