/** What make passes over because a file is there. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { idleMake } from './on-the-way.ts';

const MAKEFILE =
  '.PHONY: test lint\ntest: stamp lint\nstamp: sum.js\n\tnode --test && touch stamp\nlint:\n\tnode --test ok.test.js\n';

it.each([
  ['a stamp that was there before', 'node --test ok.test.js\nℹ pass 1\n', true, 'stamp'],
  ['a stamp that the tests have left', 'node --test && touch stamp\nℹ pass 2\nnode --test ok.test.js\n', true, undefined],
  ['no stamp', 'node --test ok.test.js\n', false, undefined],
])('%s', async (_, output, isThere, name) => {
  await using place = await testWorkspace();
  writeFileSync(join(place.path, 'Makefile'), MAKEFILE);
  if (isThere) writeFileSync(join(place.path, 'stamp'), '');
  const why = idleMake(['make', 'test'], place.path, output);
  expect(why).toEqual(name && `there is a file called ${name}, so make may have done nothing`);
});
