import type { Scene } from '../../support/terminal/scenes.ts';
import { IN_TURN, leadAndHands, writeRepository } from '../tasks.ts';

export const scene: Scene = {
  title: 'What the work of two tasks left behind is listed, shown and compared.',
  async before(project, troupe) {
    await writeRepository(project, IN_TURN);
    await project.serve(leadAndHands());
    await troupe('run', 'lead', 'Add a command that greets, with a page about it.');
  },
  async play(stage) {
    const commands = [
      ['artifacts', 'list'],
      ['artifacts', 'show', 'artifact://patches/patch-0001.diff'],
      ['artifacts', 'diff', 'artifact://patches/patch-0001.diff', 'artifact://patches/patch-0002.diff'],
      ['show', 'last'],
      ['logs', 'last'],
      ['why', 'last'],
    ];
    for (const args of commands) {
      await using person = stage.calls(args, { rows: 60 });
      await person.ends();
    }
  },
};
