import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'What is invisible or looks like something else is made visible: in an address and in a command.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    const url = 'https://ex\u0430mple.org@evil.example/\u202ex';
    const command = 'echo safe\u200b\u202e # \u001b[2Kgone';
    await stage.project.script(...asksFor({ name: 'fetch', input: { url } }, { name: 'shell', input: { command } }));
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('host: evil.example');
    await person.sees('allow?');
    person.type('no\r');
    await person.sees('wants to use shell');
    await person.looks();
    person.type('no that is not what it says\r');
    await person.ends();
  },
};
