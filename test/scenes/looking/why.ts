import type { Scene } from '../../support/terminal/scenes.ts';

const ANSWER =
  'According to notes.txt, which was written some time ago, the meeting is on Thursday and nobody has moved it since.';

export const scene: Scene = {
  title: 'Where a result comes from is told from the result back to the prompt.',
  async before(project, troupe) {
    await project.write('notes.txt', 'The meeting is on Thursday.\n');
    await project.script({ toolCalls: [{ name: 'read', input: { path: 'notes.txt' } }] }, { text: ANSWER });
    await troupe('run', 'helper', 'When is the meeting?');
  },
  async play(stage) {
    await using person = stage.calls(['why', 'last'], { rows: 40 });
    await person.ends();
  },
};
