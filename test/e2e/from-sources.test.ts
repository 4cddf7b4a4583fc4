/** Tests start built programs; people in a checkout start the sources. Both are the same program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf } from '../support/programs/programs.ts';
import { createTestProject, MAIN, objectIn, startProcess } from './support-project.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCE = join(ROOT, 'src', 'cli', 'main.ts');

it.each([
  ['the sources', SOURCE],
  ['what was built from them', MAIN],
])('an agent runs in a process of its own, searches with a pattern: %s', async (_which, main) => {
  await using project = await createTestProject(
    '',
    '---\nname: helper\nisolation: process\ntools: [list, search]\n---\nYou help.\n',
  );
  await project.script({ toolCalls: [{ name: 'search', input: { text: 'tro+upe', regex: true } }] }, { text: 'Found.' });
  await project.write('note.txt', 'a trooupe\n');
  const ended = await startProcess(project.folder, project.env, ['run', 'helper', 'Look.', '--json'], { main }).ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(objectIn(ended.out)).toMatchObject({ status: 'completed' });
  const told = await project.look('logs', 'last', '--json');
  expect(told.out).toContain('note.txt:1');
  expect(told.out).toContain('process.started');
});

it('a program knows the version and the examples of the checkout that it was built from', async () => {
  const { version } = objectIn(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  await using project = await createTestProject();
  expect(await project.troupe('--version')).toMatchObject({ code: 0, out: `${version}\n` });
  expect(MAIN).not.toContain(ROOT);
});

it('a file that is none of the programs is named', async () => {
  await expect(programOf(join(ROOT, 'src', 'index.ts'))).rejects.toThrow(/index\.ts is none of the programs/);
});
