import type { Scene } from '../../support/terminal/scenes.ts';

const HELPER = '---\nname: helper\ntools: [read, shell]\npermissions: { shell: ask }\n---\nYou help.\n';
const ANSWER = 'The **sweep** is the slow one, as your notes say; everything else takes less than a quarter of a minute:';
const TABLE = '| test | seconds |\n|---|---|\n| sweep | 61 |\n| kill | 12 |';

export const scene: Scene = {
  title: 'A conversation: several lines, a tool, an approval, Markdown, commands; nothing is left over on the screen.',
  async play(stage) {
    await stage.project.write('agents/helper.md', HELPER);
    await stage.project.write('notes.txt', 'The sweep is slow.\n');
    await stage.project.script(
      { toolCalls: [{ name: 'read', input: { path: 'notes.txt' } }] },
      {
        text: `${ANSWER}\n\n${TABLE}`,
      },
      { toolCalls: [{ name: 'shell', input: { command: 'touch done.txt' } }] },
      { text: 'Done.' },
    );
    await using person = stage.calls(['chat'], { rows: 40 });
    await person.sees(/\n›$/);
    person.type('Which tests are slow,\nand which of them could be made faster without much work? @notes.txt');
    await person.sees('@notes.txt');
    await person.looks();
    person.type('\r');
    await person.sees(/2 turns · [\s\S]*\n›$/);
    await person.looks();
    person.type('Make a note.\r');
    await person.sees('allow? yes, always');
    await person.looks();
    person.type('yes\r');
    await person.sees(/Done\.[\s\S]*\n›$/);
    person.type('/cots\r');
    await person.sees(/did you mean \/cost\?[\s\S]*\n›$/);
    person.type('/undo\r');
    await person.sees(/left out[\s\S]*\n›$/);
    await person.looks();
    person.type('\u0004');
    await person.ends();
  },
};
