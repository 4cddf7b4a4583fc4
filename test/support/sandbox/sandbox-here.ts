/**
 * The programs of a sandbox for tests: bubblewrap, socat and ripgrep on the PATH or from Debian's packages. Without them, or
 * where the machine does not let them work, tests that need walls do not run and say so; in CI a missing one is a failure.
 */
import { tmpdir } from 'node:os';
import { delimiter } from 'node:path';
import { systemRandom } from '../../../src/base/random.ts';
import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import { sandboxSettings } from '../../../src/sandbox/settings.ts';
import { isCovered } from '../../../src/sandbox/walls.ts';
import { fromDebian, onPath } from '../debian/packages.ts';
import { describeWhere, inCi } from '../left-out.ts';

const NEEDED = ['bwrap', 'socat', 'rg'];

/** Folders that the PATH must have for the programs to be found; `why` there are none. */
function find(): { readonly folders: readonly string[] } | { readonly why: string } {
  if (process.platform !== 'linux') return { why: 'these tests are for Linux' };
  if (NEEDED.every((name) => onPath([name]) !== undefined)) return { folders: [] };
  const brought = fromDebian('sandbox', ['bubblewrap', 'socat', 'ripgrep']);
  return 'why' in brought
    ? { why: `${NEEDED.join(', ')} are not all on the PATH, and ${brought.why}` }
    : { folders: [brought.programs] };
}

const found = find();
// Folders of tests may lie in memory, below /dev, which is another one inside.
if (isCovered(tmpdir())) process.env['TMPDIR'] = '/tmp';
if ('folders' in found) process.env['PATH'] = [...found.folders, process.env['PATH'] ?? ''].join(delimiter);

async function whyNot(): Promise<string | undefined> {
  if ('why' in found) return found.why;
  const sandbox = createSandbox({
    ...{ settings: sandboxSettings('auto', []), environment: process.env, random: systemRandom, state: [] },
  });
  const state = await sandbox.state();
  await sandbox.close();
  return state.kind === 'on' ? undefined : state.why;
}

const why = await whyNot();
/** What programs run in here; undefined without walls. */
export const sandboxHere = why === undefined ? 'sandbox-runtime/linux' : undefined;

/** Tests that need walls. */
export function describeInside(name: string, tests: () => void): void {
  // Programs can be brought; what the kernel of a machine does not let them do cannot.
  describeWhere(name, why, tests, inCi() && 'why' in found);
}
