import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'doctor tries what would be used, and says what does not work.',
  async play(stage) {
    let refused = false;
    const { origin } = await stage.project.serve(() => (refused ? { fault: 'status', status: 401 } : { text: 'Yes.' }));
    stage.standsForAny('12.3 GiB free', /[\d.]+ [KMGT]iB free/g);
    stage.standsForAny('git version 2.0.0', /git version [\d.]+/g);
    stage.standsForAny('version 24.0.0', /version 24[\d.]+/g);
    stage.standsFor('http://127.0.0.1:40000', origin);
    await using person = stage.calls(['doctor'], { rows: 30 });
    await person.ends();
    refused = true;
    await using again = stage.calls(['doctor'], { rows: 30 });
    await again.ends();
  },
};
