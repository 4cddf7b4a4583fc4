import type { Scene } from '../../support/terminal/scenes.ts';
import { teamAtWork } from '../workers.ts';

export const scene: Scene = {
  title: 'A window that is made narrower while the run is stopped with Ctrl-Z: fg draws the team as it fits.',
  async play(stage) {
    const team = await teamAtWork(stage);
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24, shell: 'jobs' });
    await person.sees(/translator.*asking/);
    person.type('\u001a');
    await person.sees('[stopped]');
    person.resize(stage.columns - 20, 24);
    person.type('fg\r');
    await person.sees(/fg[\s\S]*translator.*asking/);
    await person.looks();
    team.goOn();
    await person.ends();
  },
};
