import type { Scene } from '../../support/terminal/scenes.ts';
import { leadAndHands, writeRepository } from '../tasks.ts';

export const scene: Scene = {
  title:
    'An architect shows its plan, has two tasks worked on at once and judges them; the work is brought to the files and taken back.',
  async play(stage) {
    const held = Promise.withResolvers<void>();
    await writeRepository(stage.project);
    await stage.project.serve(leadAndHands(held.promise));
    stage.standsForAny('env://hash/0123456789ab', /env:\/\/hash\/[0-9a-f]{12}/g);
    await using planner = stage.calls(['run', 'lead', 'Add a command that greets, with a page about it.', '--plan-only'], {
      rows: 80,
    });
    await planner.ends();
    await using worker = stage.calls(['resume', 'last'], { rows: 40 });
    await worker.sees('hand (executor)');
    await worker.looks();
    held.resolve();
    await worker.ends();
    for (const args of [
      ['apply', 'last', '--dry-run'],
      ['apply', 'last'],
      ['apply', 'last'],
      ['apply', '--undo'],
    ]) {
      await using person = stage.calls(args, { rows: 20 });
      await person.ends();
    }
  },
};
