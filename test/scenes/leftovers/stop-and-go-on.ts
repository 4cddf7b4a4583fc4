import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'Ctrl-Z while a team works gives the screen and the cursor back; fg draws the team anew.',
  async play(stage) {
    const team = await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24, shell: 'jobs' });
    await person.sees(/translator.*asking/);
    await person.looks();
    person.type('\u001a');
    await person.sees('[stopped]');
    await person.looks();
    person.type('fg\r');
    await person.sees(/fg[\s\S]*translator.*asking/);
    team.goOn();
    await person.ends();
  },
};
