import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject } from '../../../test/e2e/support-project.ts';
import { systemClock } from '../../base/clock.ts';
import { openProject } from '../../project/open.ts';
import { createAgentCatalogue } from './agents.ts';

const file = (prompt: string): string => `---\nname: helper\ndescription: Helps\n---\n${prompt}\n`;

describe('the agents of a project', () => {
  it('are read from their files, with variables filled in', async () => {
    await using folder = await createTestProject('vars: { audience: beginners }', file(`You help \${audience} on \${DATE}.`));
    const project = await openProject({ cwd: folder.folder, env: folder.env });
    const catalogue = createAgentCatalogue(project, systemClock, 'UTC');
    const [agent] = await catalogue.list();
    expect(agent?.name).toBe('helper');
    expect(agent && catalogue.promptOf(agent)).toMatch(/^You help beginners on \d{4}-\d\d-\d\d\./);
    await project.close();
  });

  it('are read again when a file changes', async () => {
    await using folder = await createTestProject('', file('Before.'));
    const project = await openProject({ cwd: folder.folder, env: folder.env });
    const catalogue = createAgentCatalogue(project, systemClock, 'UTC');
    let changes = 0;
    const end = catalogue.onChange(() => {
      changes += 1;
    });
    await catalogue.list();
    // The watch begins soon after; a file is written until it is noticed.
    await expect
      .poll(
        async () => {
          await writeFile(join(folder.folder, 'agents/critic.md'), '---\nname: critic\n---\nYou judge.\n');
          return changes;
        },
        { interval: 300 },
      )
      .toBeGreaterThan(0);
    expect((await catalogue.list()).map((agent) => agent.name)).toEqual(['critic', 'helper']);
    end();
    await project.close();
  });
});
