import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'What goes wrong is said once: of an assistant in the tree, of the run below it.',
  async play(stage) {
    await stage.project.write('agents/lead.md', '---\nname: lead\nagents: [ann]\n---\nYou are lead.\n');
    await stage.project.write('agents/ann.md', '---\nname: ann\n---\nYou are ann.\n');
    await stage.project.serve(({ body, toolResults }) => {
      if (!JSON.stringify(body).includes('You are lead'))
        return { fault: 'status', status: 400, body: '{"error":{"message":"bad words"}}' };
      if (toolResults === 0) return { calls: [{ name: 'ann', input: { prompt: 'Go.', reason: 'need' } }] };
      return { fault: 'status', status: 400, body: '{"error":{"message":"no more"}}' };
    });
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await person.ends();
  },
};
