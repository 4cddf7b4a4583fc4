import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'What "always" would mean is said before anybody chooses it, and listed afterwards.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'ls -a agents' } }));
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('allow?');
    await person.looks();
    person.type('always project\r');
    await person.ends();
    await using lists = stage.calls(['permissions']);
    await lists.ends();
  },
};
