import { chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sampleCommand } from '../../support/executors/sample-command.ts';
import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'What an executor asks for waits in the inbox like every other request; what one can do is found out by a probe.',
  async before(project, troupe) {
    await project.write('agents/coder.md', '---\nname: coder\nexecutor: sample\n---\n');
    await project.write('executors.yaml', 'executors: { sample: { title: Sample, command: [sample, --acp] } }\n');
    await project.write('bin/sample', `#!/bin/sh\nexec ${sampleCommand().join(' ')}\n`);
    await chmod(join(project.folder, 'bin/sample'), 0o755);
    // Nothing else of this machine is installed there.
    project.env['PATH'] = `${dirname(process.execPath)}:${join(project.folder, 'bin')}`;
    await troupe('run', 'coder', 'ask * npm run release -- --dry-run\nsay done');
  },
  async play(stage) {
    await using person = stage.calls(['inbox'], { rows: 24 });
    await person.sees('allow?');
    await person.looks();
    person.type('\u0003');
    await person.ends();
    const commands = [['ps'], ['show', 'last'], ['logs', 'last'], ['executors', 'list'], ['executors', 'probe', 'sample']];
    for (const args of commands) {
      await using looking = stage.calls(args, { rows: 30 });
      await looking.ends();
    }
  },
};
