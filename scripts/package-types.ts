/** Whether programs find the package's types, whichever way they look for modules. The package is ES modules only. Needs dist. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, run } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-types-'));
try {
  // The npm beside this Node; dist is there already, so nothing is built again.
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const attw = ['node_modules/@arethetypeswrong/cli/dist/index.js', '--profile', 'esm-only', '--no-definitely-typed'];
  process.exitCode = packed.status === 0 && tarball !== undefined ? run([...attw, '--no-emoji', join(folder, tarball)]) : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
