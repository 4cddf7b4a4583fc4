import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'A window that is made narrower and wider while a question stands has every line once.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'date' } }));
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 24 });
    await person.sees('allow? yes, always');
    person.resize(40, 24);
    await person.looks();
    person.resize(stage.columns + 20, 24);
    await person.looks();
    person.type('no\r');
    await person.ends();
  },
};
