import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'Ctrl-C in the middle of a call of a model: what it may have cost is not known, and that is said, also afterwards.',
  async play(stage) {
    const settings = 'permissions: { shell: allow }\nprices: { openai/test-model: { input: 1, output: 1 } }\n';
    await stage.project.write('troupe.yaml', settings);
    const usage = { input: 1_200, output: 80 };
    await stage.project.serve(
      { usage, calls: [{ name: 'shell', input: { command: 'true' } }] },
      { fault: 'hang' },
      { usage, text: 'Done.' },
    );
    await using person = stage.calls(['run', 'helper', 'Go.'], { rows: 24 });
    await person.sees('✓ shell true');
    await person.sees('asking');
    person.type('\u0003');
    await person.ends();
    for (const args of [['resume', 'last'], ['cost']]) {
      await using later = stage.calls(args, { rows: 24 });
      await later.ends();
    }
  },
};
