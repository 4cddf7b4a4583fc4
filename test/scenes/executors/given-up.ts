import { sampleCommand } from '../../support/executors/sample-command.ts';
import type { Scene } from '../../support/terminal/scenes.ts';
import { TASKS, writeRepository } from '../tasks.ts';

const LEAD = `---
name: lead
architect: { executor: weak, fallbackExecutors: [gone], limits: { maxSameErrorRetries: 1 } }
---
You are lead.
`;

export const scene: Scene = {
  title: 'A task that two executors fail at is given up; everything that is shown of it says why and what is left.',
  async before(project, troupe) {
    await writeRepository(project, LEAD);
    await project.write(
      'agents/weak.md',
      '---\nname: weak\nexecutor: sample\n---\nerror -32603 The model of Sample does not answer.\n',
    );
    const executors = {
      sample: { title: 'Sample', command: sampleCommand() },
      gone: { title: 'Gone', command: ['no-such-agent'], install: 'npm install -g no-such-agent' },
    };
    await project.write('executors.yaml', JSON.stringify({ executors }));
    await project.serve(({ body }) =>
      JSON.stringify(body).includes('was given up')
        ? { text: 'It could not be done.' }
        : { calls: [{ name: 'delegate', input: { tasks: TASKS.slice(0, 1) } }] },
    );
    await troupe('run', 'lead', 'Add a command that greets.');
  },
  async play(stage) {
    for (const args of [
      ['show', 'last'],
      ['logs', 'last'],
      ['why', 'last'],
      ['executors', 'probe', 'gone'],
    ]) {
      await using person = stage.calls(args, { rows: 50 });
      await person.ends();
    }
  },
};
