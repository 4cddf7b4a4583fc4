import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'A change is seen as a difference to the file as it is, a new file line by line.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await writeFile(join(stage.project.folder, 'notes.txt'), 'one\ntwo\nthree\nfour\nfive\n');
    await stage.project.script(
      ...asksFor({ name: 'edit', input: { path: 'notes.txt', old: 'three', new: 'drei' } }).slice(0, 1),
      ...asksFor({ name: 'write', input: { path: 'new.txt', content: 'a first line\na second line\n' } }),
    );
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('notes.txt (+1 -1 lines)');
    await person.sees('allow?');
    person.type('yes\r');
    await person.sees('new.txt (new file');
    await person.looks();
    person.type('yes\r');
    await person.ends();
  },
};
