import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'A run whose key is refused stands still, says so once, and goes on when it is resumed.',
  async play(stage) {
    let refused = true;
    await stage.project.serve(() => (refused ? { fault: 'status', status: 401 } : { text: 'The key is good.' }));
    await using person = stage.calls(['run', 'helper', 'Look.'], { rows: 24 });
    await person.ends();
    refused = false;
    await using again = stage.calls(['resume', 'last'], { rows: 24 });
    await again.ends();
  },
};
