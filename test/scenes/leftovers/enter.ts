import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'Enter and other keys while a team works leave nothing behind.',
  async play(stage) {
    const team = await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await person.sees(/translator.*asking/);
    person.type('\r\r\r');
    person.type('hello\r');
    team.goOn();
    await person.ends();
  },
};
