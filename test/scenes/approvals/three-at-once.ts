import type { Scene } from '../../support/terminal/scenes.ts';

const sub = (name: string): string => `---\nname: ${name}\ntools: [shell]\npermissions: { shell: ask }\n---\nYou are ${name}.\n`;
const NAMES = ['ann', 'bob', 'cid'];

export const scene: Scene = {
  title: 'Three assistants ask at once: each is asked about in its turn, and another terminal sees what is open.',
  async play(stage) {
    await stage.project.write('agents/lead.md', `---\nname: lead\nagents: [${NAMES.join(', ')}]\n---\nYou are lead.\n`);
    for (const name of NAMES) await stage.project.write(`agents/${name}.md`, sub(name));
    const bob = Promise.withResolvers<void>();
    const cid = Promise.withResolvers<void>();
    await stage.project.serve(async ({ body, toolResults }) => {
      const [, who = ''] = /You are (\w+)/.exec(JSON.stringify(body)) ?? [];
      if (who === 'lead' && toolResults === 0)
        return { calls: NAMES.map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) };
      // One after the other, so that they ask in the same order in every play.
      if (who === 'bob') await bob.promise;
      if (who === 'cid') await cid.promise;
      if (who === 'lead' || toolResults > 0) return { text: `${who} is done.` };
      return { calls: [{ name: 'shell', input: { command: `touch ${who}.txt` } }] };
    });
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 40 });
    await person.sees('touch ann.txt');
    bob.resolve();
    await person.sees(/bob.*waiting/);
    cid.resolve();
    await person.sees(/cid.*waiting/);
    await person.looks();
    person.type('yes\r');
    await person.sees(/\| touch bob\.txt[\s\S]*allow\?/);
    await using elsewhere = stage.calls(['inbox'], { at: 'another terminal' });
    await elsewhere.sees(/which first\?|number, or Enter/);
    await elsewhere.looks();
    elsewhere.type('\r');
    await elsewhere.sees('| touch bob.txt');
    await elsewhere.sees('allow?');
    await elsewhere.looks();
    elsewhere.type('yes\r');
    await person.sees('answered elsewhere');
    await elsewhere.sees(/\| touch cid\.txt[\s\S]*allow\?/);
    elsewhere.type('no leave it\r');
    await elsewhere.ends();
    await person.ends();
  },
};
