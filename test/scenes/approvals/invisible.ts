import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title:
    'What is invisible or looks like something else is made visible: in an address, in a command, in a difference and in a name.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    const url = 'https://ex\u0430mple.org@evil.example/\u202ex';
    const command = 'echo safe\u200b\u202e # \u001b[2Kgone';
    await writeFile(join(stage.project.folder, 'rules.mk'), 'all:\n\techo hi\n');
    const edit = { path: 'rules.mk', old: '\techo hi', new: '  echo hi ' };
    const forged = { path: 'a.txt (new file, +1 -0 lines)\n@@ -0,0 +1,1 @@\n+hello\n\nb.txt', content: 'x\n' };
    await stage.project.script(
      ...asksFor(
        { name: 'fetch', input: { url } },
        { name: 'shell', input: { command } },
        { name: 'edit', input: edit },
        { name: 'write', input: forged },
      ),
    );
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('host: evil.example');
    await person.sees('allow?');
    person.type('no\r');
    await person.sees('wants to use shell');
    await person.looks();
    person.type('no that is not what it says\r');
    await person.sees('wants to use edit');
    await person.looks();
    person.type('no\r');
    await person.sees('wants to use write');
    await person.looks();
    person.type('no\r');
    await person.ends();
  },
};
