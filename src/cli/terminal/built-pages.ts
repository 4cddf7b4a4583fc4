/** Where the built console is, and how a checkout makes it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const packageFolder = join(import.meta.dirname, '..', '..', '..');

export const consoleFolder = join(packageFolder, 'dist', 'console');

/** The sources of the console are only in a checkout, and so is what builds it; when nothing has changed it ends at once. */
export async function prepareConsole(): Promise<void> {
  const bootstrap = join(packageFolder, 'scripts', 'bootstrap.mjs');
  if (!existsSync(bootstrap)) return;
  const child = spawn(process.execPath, [bootstrap, 'console'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('it could not be built; what stands above says why.');
}
