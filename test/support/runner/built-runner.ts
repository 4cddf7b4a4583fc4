/** Runners as the built command line has them. Where many are started, and where they come from is not what is tested. */
import { dirname, join } from 'node:path';
import { confined } from '../../../src/runner/host/confinement.ts';
import type { RunnerSettings } from '../../../src/runner/host/pool.ts';
import { programOf } from '../programs/programs.ts';

const WORKER = await programOf(join(import.meta.dirname, '../../../src/runner/child/loop-worker.ts'));
const code = dirname(dirname(dirname(WORKER)));

export const builtRunner: Pick<RunnerSettings, 'how'> = { how: (memoryMiB) => confined(memoryMiB, WORKER, code) };
