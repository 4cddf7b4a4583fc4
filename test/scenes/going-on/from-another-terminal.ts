import type { Scene } from '../../support/terminal/scenes.ts';
import { WORKER } from '../workers.ts';

const touch = (file: string) => ({ calls: [{ name: 'shell', input: { command: `touch ${file}` } }] });

export const scene: Scene = {
  title: 'A run is answered and written to from another terminal: a word to it, an approval, and a no with the reason.',
  async play(stage) {
    await stage.project.write('agents/lead.md', '---\nname: lead\nagents: [w, clerk]\n---\nYou are lead.\n');
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.write('agents/clerk.md', '---\nname: clerk\n---\nYou are clerk.\n');
    // As long as somebody works, the terminal of the run goes on with it, and no other takes it up.
    const held = Promise.withResolvers<void>();
    await stage.project.serve(async ({ body, toolResults }) => {
      const said = JSON.stringify(body);
      if (said.includes('You are lead'))
        return toolResults === 0
          ? { calls: ['w', 'clerk'].map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) }
          : { text: 'Done, as you said.' };
      if (!said.includes('You are clerk')) return [touch('one.txt'), touch('two.txt')][toolResults] ?? { text: 'One is there.' };
      await held.promise;
      return { text: 'All is written down.' };
    });
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 40 });
    await person.sees(/one\.txt[\s\S]*allow\?/);
    await using told = stage.calls(['send', 'last', 'Only the first file.'], { at: 'another terminal' });
    await told.ends();
    await using approved = stage.calls(['approve', 'last'], { at: 'another terminal', rows: 24 });
    await approved.sees('approve this?');
    approved.type('yes\r');
    await approved.ends();
    await person.sees(/two\.txt[\s\S]*allow\?/);
    await using denied = stage.calls(['deny', 'last', '--note', 'one is enough'], { at: 'another terminal' });
    await denied.ends();
    held.resolve();
    await person.ends();
  },
};
