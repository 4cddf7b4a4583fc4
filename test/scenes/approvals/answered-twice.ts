import type { Scene } from '../../support/terminal/scenes.ts';
import { WORKER } from '../workers.ts';

const touch = (file: string) => ({ calls: [{ name: 'shell', input: { command: `touch ${file}` } }] });

export const scene: Scene = {
  title: 'Two people have the same question: the second is told who was first, at the prompt and on the command line.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    const goesOn = Promise.withResolvers<void>();
    await stage.project.serve(async ({ toolResults }) => {
      if (toolResults === 0) return touch('one.txt');
      await goesOn.promise;
      return toolResults === 1 ? touch('two.txt') : { text: 'Done.' };
    });
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 40 });
    await person.sees(/one\.txt[\s\S]*allow\?/);
    await using elsewhere = stage.calls(['inbox'], { at: 'another terminal', rows: 40 });
    await elsewhere.sees(/one\.txt[\s\S]*allow\?/);
    person.type('yes\r');
    await elsewhere.ends();
    await using late = stage.calls(['deny', 'last', '--wait', 'turn/1/tool/0/approval'], { at: 'a third terminal' });
    await late.ends();
    goesOn.resolve();
    await person.sees(/two\.txt[\s\S]*allow\?/);
    person.type('no\r');
    await person.ends();
  },
};
