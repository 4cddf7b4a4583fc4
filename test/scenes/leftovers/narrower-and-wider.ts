import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'A window that is made narrower and wider while a team works has every line once.',
  async play(stage) {
    const team = await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await person.sees(/translator.*asking/);
    person.resize(40, 24);
    await person.looks();
    person.resize(stage.columns + 20, 24);
    await person.looks();
    team.goOn();
    await person.ends();
  },
};
