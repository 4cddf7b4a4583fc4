import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'Whoever cancels a run says why, and that is seen where it works, in show and in ps.',
  async play(stage) {
    await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await person.sees(/translator.*asking/);
    await using elsewhere = stage.calls(['cancel', 'last', '--reason', 'the branch is wrong'], { at: 'another terminal' });
    await elsewhere.ends();
    await person.ends();
    for (const args of [['ps'], ['show', 'last']]) {
      await using later = stage.calls(args, { rows: 24 });
      await later.ends();
    }
  },
};
