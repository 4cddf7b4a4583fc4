import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'Tab in bash knows commands, agents, options and what they take.',
  async play(stage) {
    await stage.project.write('agents/tester.md', '---\ndescription: Tests what others wrote.\n---\nYou test.\n');
    await using person = stage.calls(['completion', 'bash'], { rows: 24, shell: 'bash' });
    await person.sees('$');
    person.type('troupe inb\t');
    await person.sees('troupe inbox');
    person.type('\u0015troupe run te\t');
    await person.sees('troupe run tester');
    person.type('--not\t');
    await person.sees('troupe run tester --notify');
    person.type('\t\t');
    await person.sees(/bell +desktop +none/);
    await person.looks();
    person.type('\u0015exit\r');
    await person.ends();
  },
};
