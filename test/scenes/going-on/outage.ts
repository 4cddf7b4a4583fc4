import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'While a provider is out of order the tree says when it is asked again; then the run goes on.',
  async play(stage) {
    let down = true;
    await stage.project.serve(() =>
      down ? { fault: 'status', status: 503, headers: { 'retry-after': '40' } } : { text: 'It is back.' },
    );
    await using person = stage.calls(['run', 'helper', 'Look.'], { rows: 24 });
    await person.sees('attempt 2 in');
    await person.looks();
    person.type('\u0003');
    await person.ends();
    down = false;
    await using again = stage.calls(['resume', 'last'], { rows: 24 });
    await again.ends();
  },
};
