import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'The work of a failed run is done again, and the conversation goes on.',
  async play(stage) {
    let answer: { readonly fault: 'status'; readonly status: number } | { readonly text: string } = {
      fault: 'status',
      status: 400,
    };
    await stage.project.serve(() => answer);
    await using person = stage.calls(['run', 'helper', 'Look.'], { rows: 24 });
    await person.ends();
    answer = { text: 'Now it works.' };
    await using again = stage.calls(['retry', 'last'], { rows: 24 });
    await again.ends();
    answer = { text: 'As I said: now it works.' };
    await using further = stage.calls(['run', '--continue', 'What did you say?'], { rows: 24 });
    await further.ends();
    await using listed = stage.calls(['sessions'], { rows: 24 });
    await listed.ends();
  },
};
