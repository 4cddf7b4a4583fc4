import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

const command = `${Array.from({ length: 30 }, (_none, index) => `echo ${index}`).join('\n')}\ntouch PWNED`;

export const scene: Scene = {
  title: 'A long command is seen page by page: it can be refused at once, and allowed only behind its last page.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command } }));
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 24 });
    await person.sees('page 1 of 2');
    await person.looks();
    person.type('yes\r');
    await person.sees('allow? yes, always');
    await person.looks();
    person.type('no not like this\r');
    await person.ends();
  },
};
