/** A program of somebody else's, in a process of its own. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestProject, startProcess } from './support-project.ts';

const LIBRARY = join(import.meta.dirname, '..', '..', 'src', 'index.ts');

it('a process stays as long as its callbacks are waited for, also where nothing else keeps it', async () => {
  await using project = await createTestProject('', '---\nname: helper\ntools: [shell]\n---\nYou help.\n');
  await project.script({ toolCalls: [{ name: 'shell', input: { command: 'touch made.txt' } }] }, { text: 'Done.' });
  // A timer that keeps no process alive, as that of AbortSignal.timeout is.
  await project.write(
    'program.mjs',
    `import { createTroupe } from ${JSON.stringify(LIBRARY)};
    await using troupe = await createTroupe({ root: '.' });
    const later = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 1_500).unref());
    const told = [];
    const onEvent = async ({ event_type }) => told.push(await later(event_type));
    const { status } = await troupe.run('helper', 'Go.', { approve: () => later(true), onEvent });
    console.log(status, told.at(-1));`,
  );
  const main = join(project.folder, 'program.mjs');
  expect(await startProcess(project.folder, project.env, [], { main }).ended).toMatchObject({
    code: 0,
    out: 'completed run.ended\n',
  });
});
