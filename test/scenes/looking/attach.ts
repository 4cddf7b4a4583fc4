import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'A run that was left at a question has the whole screen: its tree, a word to it, the question, and going on there.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'rm -rf build' } }));
    await using left = stage.calls(['run', 'w', 'Clean up.']);
    await left.sees('allow? yes, always');
    left.type('\u0003');
    await left.ends();
    await using person = stage.calls(['attach'], { rows: 16 });
    await person.sees('w waits for you: i answers');
    await person.looks();
    person.type('s');
    await person.sees('to w:');
    person.type('Leave build alone.\r');
    await person.sees('kept for w');
    person.type('i');
    await person.sees('allow? yes');
    await person.looks();
    person.type('no not that folder\r');
    await person.sees('r takes it up here');
    await person.looks();
    person.type('r');
    await person.sees('Done.');
    await person.sees(/w \w+ · completed/);
    await person.looks();
    person.type('?');
    await person.sees('any key back');
    await person.looks();
    person.type('x');
    await person.sees('q leave');
    person.type('q');
    await person.ends();
  },
};
