/**
 * Packs what a release would publish, as npm does it, which builds dist first. The tarball is for the checks after this one:
 * TROUPE_PACKED names the folder that it goes to.
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { PACKED_VARIABLE, root } from './steps.ts';

const folder = process.env[PACKED_VARIABLE];
if (folder === undefined) throw new Error(`${PACKED_VARIABLE} names no folder. Fix: start this with npm test.`);
// The npm beside this Node.
const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
const { status } = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: root,
  env: { ...process.env, PATH },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.exitCode = status ?? 1;
