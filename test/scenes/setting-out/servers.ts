import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: "A server of another tool's file is listed, shown whole and asked about before it is started for the first time.",
  async play(stage) {
    const args = ['-c', 'echo started >> ../started; exec notes --folder .'];
    await stage.project.write('.mcp.json', JSON.stringify({ mcpServers: { notes: { command: 'sh', args } } }));
    await stage.project.write('agents/w.md', '---\nname: w\ntools: ["mcp:notes"]\n---\nYou work.\n');
    await stage.project.script({ text: 'Done.' });
    await using listed = stage.calls(['servers']);
    await listed.ends();
    await using person = stage.calls(['run', 'w', 'Go.']);
    await person.sees('allow? yes or no');
    await person.looks();
    person.type('no\r');
    await person.ends();
  },
};
