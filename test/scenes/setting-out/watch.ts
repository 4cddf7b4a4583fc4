import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'What is checked is checked again when a file changes, until Ctrl-C; the shell has a line of its own then.',
  async play(stage) {
    await stage.project.write('agents/w.md', '---\nname: w\n---\nYou work.\n');
    await using person = stage.calls(['check', '--watch'], { rows: 12 });
    await person.sees('Ctrl-C ends');
    await person.looks();
    stage.tells('writes tools: [bash] into agents/w.md');
    await stage.project.write('agents/w.md', '---\nname: w\ntools: [bash]\n---\nYou work.\n');
    await person.sees(/1 error[\s\S]*Ctrl-C ends/);
    await person.looks();
    person.type('\u0003');
    await person.ends();
  },
};
