import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'Words of others and misspellings lead to ours, and an empty project says how to begin.',
  before: async () => undefined,
  async play(stage) {
    for (const args of [['list'], ['shwo'], ['run', 'helpr', 'Go.'], ['ps'], ['inbox'], ['resume', 'last']]) {
      await using person = stage.calls(args, { rows: 24 });
      await person.ends();
    }
  },
};
