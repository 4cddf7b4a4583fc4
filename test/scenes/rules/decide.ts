import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor } from '../workers.ts';

const RULES = `permissions:
  shell: { "echo *": allow, "git *": allow, "rm *": deny, "*": ask }
  write: { "src/**": allow, "*": deny }
`;

const shell = (command: string) => ({ name: 'shell', input: { command } });
const write = (path: string) => ({ name: 'write', input: { path, content: 'x' } });

export const scene: Scene = {
  title:
    'Rules decide: what is allowed is made, what is denied is not, and what a rule covers only in part is asked about, with the reason.',
  async play(stage) {
    await stage.project.write('troupe.yaml', RULES);
    await stage.project.write('agents/w.md', '---\nname: w\ntools: [shell, write]\n---\nYou work.\n');
    await stage.project.script(
      ...asksFor(
        shell('echo one'),
        shell('rm -rf build'),
        write('src/a.ts'),
        write('notes.txt'),
        shell('echo two; ls'),
        shell('git log --output=a'),
      ),
    );
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 30 });
    await person.sees('allow? yes, always');
    await person.looks();
    person.type('always\r');
    await person.sees(/\| git log --output=a[\s\S]*allow\? yes, always/);
    await person.looks();
    person.type('no\r');
    await person.ends();
    await using listed = stage.calls(['permissions'], { rows: 30 });
    await listed.ends();
    await using removed = stage.calls(['permissions', 'remove', '--all', '--session', 'last'], { rows: 30 });
    await removed.ends();
  },
};
