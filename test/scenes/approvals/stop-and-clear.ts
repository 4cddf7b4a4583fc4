import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'After Ctrl-Z, clear and fg, and after an answer that is none, what is asked for stands above the question again.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.script(...asksFor({ name: 'shell', input: { command: 'rm -rf build' } }));
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 16, shell: 'jobs' });
    await person.sees('allow? yes, always');
    person.type('no n\u001a');
    await person.sees('[stopped]');
    person.type('printf "\\033[H\\033[2J\\033[3J" >&2; fg\r');
    await person.sees('why): no n');
    await person.looks();
    person.type('\u0015yse\r');
    await person.sees(/none of the answers[\s\S]*allow\?/);
    await person.looks();
    person.type('no\r');
    await person.ends();
  },
};
