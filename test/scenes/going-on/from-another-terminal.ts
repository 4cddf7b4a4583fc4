import type { Scene } from '../../support/terminal/scenes.ts';
import { WORKER } from '../workers.ts';

const touch = (file: string) => ({ calls: [{ name: 'shell', input: { command: `touch ${file}` } }] });

export const scene: Scene = {
  title: 'A run is answered and written to from another terminal: a word to it, an approval, and a no with the reason.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    await stage.project.serve(({ toolResults }) =>
      toolResults === 0 ? touch('one.txt') : toolResults === 1 ? touch('two.txt') : { text: 'Done, as you said.' },
    );
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 40 });
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
    await person.ends();
  },
};
