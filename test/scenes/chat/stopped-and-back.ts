import type { Scene } from '../../support/terminal/scenes.ts';

const BEGINS = 'The first half of an answer that is long enough to be broken where the screen is narrow, and that ';
const HALF = `${BEGINS}${'goes on '.repeat(9)}`;

export const scene: Scene = {
  title: 'An answer is stopped while it is written, the conversation goes on, is left, and is there again.',
  async play(stage) {
    await stage.project.write('agents/helper.md', '---\nname: helper\nmaxRetries: 0\n---\nYou help.\n');
    await stage.project.serve({ fault: 'hang', after: HALF }, { text: '# Whole\n\n- one\n- two' });
    await using person = stage.calls(['chat'], { rows: 30 });
    await person.sees(/\n›$/);
    person.type('Tell me everything.\r');
    await person.sees('The first half');
    await person.looks();
    person.type('\u0003');
    await person.sees(/cancelled[\s\S]*\n›$/);
    await person.looks();
    person.type('Only the two points.\r');
    await person.sees(/two[\s\S]*\n›$/);
    person.type('\u0003');
    await person.sees('Ctrl-C once more');
    await person.looks();
    person.type('\u0003');
    await person.ends();
    await using again = stage.calls(['chat', '--continue'], { rows: 30 });
    await again.sees(/\n›$/);
    await again.looks();
    again.type('/exit\r');
    await again.ends();
  },
};
