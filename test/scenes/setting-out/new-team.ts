import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'A team is written for agents that are there, and drawn; one that is there is not written over.',
  async play(stage) {
    await stage.project.write('agents/tester.md', '---\ndescription: Tests what others wrote.\n---\nYou test.\n');
    const calls = [
      ['new', 'team', 'release', 'helper', 'tester'],
      ['new', 'team', 'release', 'helper'],
      ['new', 'team', 'Night Shift', 'nobody'],
      ['new', 'team', 'room'],
      ['check', '--graph'],
    ];
    for (const args of calls) {
      await using person = stage.calls(args, { rows: 24 });
      await person.ends();
    }
  },
};
