import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testWorkspace } from '../../test/support/tool-workspace.ts';
import { createGuard } from '../tools/closed/guard.ts';
import { resolveInside } from '../tools/files/workspace.ts';
import { commandWalls } from '../tools/shell/walls.ts';
import { programPlaces } from './program-places.ts';

/** A project with Troupe among its packages, by way of a store as pnpm has it, or plainly. */
async function installed(folder: string) {
  const place = await testWorkspace();
  const here = join(place.path, folder, 'troupe/src/project');
  mkdirSync(here, { recursive: true });
  mkdirSync(join(place.path, 'node_modules/zod'), { recursive: true });
  writeFileSync(join(place.path, 'node_modules/zod/index.js'), '');
  const program = programPlaces(place.path, here);
  const at = (name: string): string => join(place.path, name);
  const places = { project: place.path, home: at('.troupe'), ledgers: [], user: at('u'), keys: at('k'), program };
  return { place, places, here, program };
}

it.each([
  ['node_modules', 'node_modules/troupe/bin/troupe.mjs'],
  ['node_modules', 'node_modules/zod/index.js'],
  ['node_modules', 'node_modules/not-there/index.js'],
  ['node_modules', 'node_modules/.bin/troupe'],
  ['node_modules', 'Node_Modules/troupe/x.mjs'],
  ['node_modules', '.npmrc'],
  ['node_modules/.pnpm/troupe@1/node_modules', 'node_modules/troupe/x.mjs'],
])('installed in %s, %s can be read and not written, whatever is opened', async (folder, path) => {
  const { place, places } = await installed(folder);
  await using _place = place;
  const guard = createGuard(places);
  expect(await resolveInside(place.path, path, { guard, use: 'read' })).toMatchObject({ ok: true });
  const refused = await resolveInside(place.path, path, { guard, use: 'write', opened: 'servers' });
  expect(refused).toMatchObject({ ok: false, error: expect.stringContaining('Troupe itself runs from') });
  expect(refused).toMatchObject({ error: expect.not.stringContaining('Only the owner') });
  expect(await resolveInside(place.path, 'packages/a/node_modules/x.js', { guard, use: 'write' })).toMatchObject({ ok: true });
});

it('by way of a link they are the same, and inside walls they stay as they are', async () => {
  const { place, places } = await installed('node_modules');
  await using _place = place;
  symlinkSync('node_modules', join(place.path, 'other'));
  const refused = await resolveInside(place.path, 'other/zod/index.js', { guard: createGuard(places), use: 'write' });
  expect(refused.ok).toBe(false);
  expect(commandWalls(place.path, places).keep).toContain(join(place.path, 'node_modules'));
});

it('from elsewhere, or from its sources, it closes nothing of the project', async () => {
  const { place, here } = await installed('node_modules');
  await using _place = place;
  expect(programPlaces(join(place.path, 'src'), here)).toEqual([]);
  expect(programPlaces(place.path, join(place.path, 'src/project'))).toEqual([]);
});
