import type { Scene } from '../../support/terminal/scenes.ts';

const lists = { toolCalls: [{ name: 'list', input: {} }] };

export const scene: Scene = {
  title: 'A run that ran out of turns says why once, and names the command that gives it more.',
  async play(stage) {
    await stage.project.script(lists, lists, lists, { text: 'Found it.' });
    await using person = stage.calls(['run', 'helper', 'Look.', '--max-turns', '2'], { rows: 24 });
    await person.ends();
    await using listed = stage.calls(['ps'], { rows: 24 });
    await listed.ends();
  },
};
