import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor, WORKER } from '../workers.ts';

export const scene: Scene = {
  title: 'Runs in different states are listed, and each command that is named there works.',
  async before(project, troupe) {
    await project.write('agents/w.md', WORKER);
    await project.script({ text: 'All is well.' });
    await troupe('run', 'helper', 'Look.');
    await project.script(...asksFor({ name: 'shell', input: { command: 'npm test' } }));
    await troupe('run', 'w', 'Test it.');
    await project.script({ toolCalls: [{ name: 'list', input: {} }] }, { toolCalls: [{ name: 'list', input: {} }] });
    await troupe('run', 'helper', 'Look again.', '--max-turns', '2');
    await project.script({ error: { kind: 'auth', message: 'the key was refused' } });
    await troupe('run', 'helper', 'Look once more.');
  },
  async play(stage) {
    for (const args of [['ps'], ['sessions'], ['show', 'last'], ['cost'], ['cost', 'last'], ['logs', 'last']]) {
      await using person = stage.calls(args, { rows: 40 });
      await person.ends();
    }
  },
};
