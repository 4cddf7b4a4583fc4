/**
 * Packs what a release would publish, as npm does it, which builds dist first. The tarball is for the checks after this one:
 * TROUPE_PACKED names the folder that it goes to. The types are checked beside it.
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { CHECKED_VARIABLE, PACKED_VARIABLE, root } from './steps.ts';

const folder = process.env[PACKED_VARIABLE];
if (folder === undefined) throw new Error(`${PACKED_VARIABLE} names no folder. Fix: start this with npm test.`);
// The npm beside this Node.
const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
const { status } = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: root,
  env: { ...process.env, PATH, [CHECKED_VARIABLE]: 'beside' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.exitCode = status ?? 1;
