import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'A command is changed before it is allowed.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'touch wrong.txt' } }));
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('allow?');
    person.type('edit\r');
    await person.sees('command: touch wrong.txt');
    person.type('\u0015touch right.txt\r');
    await person.sees('allow this?');
    await person.looks();
    person.type('yes\r');
    await person.ends();
  },
};
