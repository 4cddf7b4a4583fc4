import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'A first team is chosen from a list, checked and made bigger.',
  async play(stage) {
    for (const path of ['agents', 'troupe.yaml']) await rm(join(stage.project.folder, path), { recursive: true });
    await using person = stage.calls(['init'], { rows: 24 });
    await person.sees(/:\s*$/);
    await person.looks();
    person.type('2\r');
    await person.ends();
    for (const args of [['new', 'agent', 'checker'], ['check'], ['agents', 'list']]) {
      await using next = stage.calls(args, { rows: 24 });
      await next.ends();
    }
  },
};
