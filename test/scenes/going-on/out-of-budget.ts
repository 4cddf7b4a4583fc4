import type { Scene } from '../../support/terminal/scenes.ts';

const lists = { toolCalls: [{ name: 'list', input: {} }] };

export const scene: Scene = {
  title: 'A run that has used up its budget says which limit it was, and goes on with more.',
  async play(stage) {
    await stage.project.script(lists, { text: 'Found it.' });
    await using person = stage.calls(['run', 'helper', 'Look.', '--budget-calls', '1'], { rows: 24 });
    await person.ends();
    await using again = stage.calls(['resume', 'last', '--budget-calls', '3'], { rows: 24 });
    await again.ends();
  },
};
