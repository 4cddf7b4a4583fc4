/** A play that gets stuck says where, with the screens as they were, and holds nobody up. */
import { expect, it } from 'vitest';
import { createStageProject, openStage, type Stage } from '../support/terminal/stage.ts';
import { asksFor, WORKER } from './workers.ts';

async function openPlay(quietMs: number, patienceMs: number): Promise<Stage> {
  const stage = openStage(await createStageProject(), { columns: 60, places: 0, expects: () => false, quietMs, patienceMs });
  await stage.project.write('agents/w.md', WORKER);
  await stage.project.script(...asksFor({ name: 'shell', input: { command: 'touch a.txt' } }));
  return stage;
}

it('fails with the screen where an end is waited for that does not come', async () => {
  await using stage = await openPlay(1, 1);
  await using person = stage.calls(['run', 'w', 'Go.']);
  await person.sees('allow? yes, always');
  await expect(person.ends()).rejects.toThrow(/never ended: \$ troupe run w Go\.[\s\S]*touch a\.txt[\s\S]*allow\?/);
});

it('fails with the screen where a picture is waited for that never stands still', async () => {
  await using stage = await openPlay(600_000, 1);
  await using person = stage.calls(['run', 'w', 'Go.']);
  await person.sees('allow? yes, always');
  await expect(person.looks()).rejects.toThrow(/never still: \$ troupe run w Go\.[\s\S]*touch a\.txt[\s\S]*allow\?/);
});

it('takes the picture of a program that has ended, also of one that shows something else than expected', async () => {
  await using stage = await openPlay(600_000, 600_000);
  await using person = stage.calls(['run', 'nobody', 'Go.']);
  await person.ended;
  await person.looks();
  expect(stage.session()).toContain('nobody');
});
