import type { Scene } from '../../support/terminal/scenes.ts';
import { WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'What was typed before a question appeared answers nothing.',
  async play(stage) {
    await stage.project.write('agents/w.md', WORKER);
    const typed = Promise.withResolvers<void>();
    await stage.project.serve(async ({ index }) => {
      await typed.promise;
      return index === 0 ? { calls: [{ name: 'shell', input: { command: 'rm -rf build' } }] } : { text: 'Done.' };
    });
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('turn 1');
    person.type('yes\ryes\ry');
    typed.resolve();
    await person.sees('allow?');
    await person.looks();
    person.type('no\r');
    await person.ends();
  },
};
