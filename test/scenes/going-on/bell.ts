import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'The bell rings when somebody is needed and when the run ends, where that was asked for.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'touch a' } }));
    await using person = stage.calls(['run', 'w', 'Go.', '--notify', 'bell']);
    await person.sees('allow? yes, always');
    await person.looks();
    person.type('yes\r');
    await person.ends();
  },
};
