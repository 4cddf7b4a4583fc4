import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'In a window of four rows the picture is cut and drawn in place.',
  async play(stage) {
    const team = await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 4 });
    await person.sees(/historian.*asking/);
    await person.looks();
    team.goOn();
    await person.ends();
  },
};
