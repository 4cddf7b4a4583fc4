/** What every engine must do, on the embedded one. The others have test files of their own: they need servers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { engineConformance } from '../../../test/conformance/engine/table.ts';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { createWorld } from '../../../test/support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-engine-'));
const kept = closedAfterwards();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the embedded engine', () => {
  let count = 0;
  it.each(engineConformance.map(({ name, play }) => [name, play] as const))('%s', async (_name, play) => {
    count += 1;
    const path = join(folder, `${count}.db`);
    await play({
      async create(options) {
        return kept(createWorld({ path, ...options }));
      },
    });
  });
});
