import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'Ctrl-Z at a question of a chat, twice: the shell has its lines, and the question stands below them once.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'touch a' } }));
    await using person = stage.calls(['chat', 'w'], { rows: 40, shell: 'jobs' });
    await person.sees(/\n›$/);
    person.type('Go.\r');
    await person.sees('allow? yes, always');
    person.type('no b\u001a');
    await person.sees('[stopped]');
    person.type('fg\r');
    await person.sees(/\[stopped\][\s\S]*why\): no b/);
    person.type('ut\u001a');
    await person.sees(/but\s*\n[\s\S]*\[stopped\]/);
    person.type('fg\r');
    await person.sees(/but\s*\n[\s\S]*\[stopped\][\s\S]*why\): no but/);
    await person.looks();
    person.type('\r');
    await person.sees(/Done\.[\s\S]*\n›$/);
    person.type('/exit\r');
    await person.ends();
  },
};
