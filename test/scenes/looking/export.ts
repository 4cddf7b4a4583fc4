import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'A run is exported: to the screen, and into a file.',
  async before(project, troupe) {
    await project.write('notes.txt', 'One line.\n');
    await project.script(
      { toolCalls: [{ name: 'read', input: { path: 'notes.txt' } }] },
      { text: '# What is there\n\nOne file with **one line**, which is short and says nothing of importance to anybody.' },
    );
    await troupe('run', 'helper', 'What is here?');
  },
  async play(stage) {
    for (const args of [
      ['export', 'last'],
      ['export', 'last', '--format', 'print', '-o', `run-${stage.columns}.html`],
    ]) {
      await using person = stage.calls(args, { rows: 40 });
      await person.ends();
    }
  },
};
