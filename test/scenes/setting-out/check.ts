import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'Everything that is wrong is reported at once, with its place and what to do.',
  async before(project) {
    await project.write('troupe.yaml', 'permissions: { shel: deny }\nbudget: { usd: lots }\n');
    await project.write('agents/a.md', '---\nname: a\ntools: [bash]\nmodel: anthropic/claude-sonet\n---\nYou work.\n');
    await project.write('agents/b.md', '---\nname: b\nagents: [nobody]\nmaxTurns: none\n---\nYou work.\n');
  },
  async play(stage) {
    for (const args of [['check'], ['run', 'a', 'Go.']]) {
      await using person = stage.calls(args, { rows: 24 });
      await person.ends();
    }
  },
};
