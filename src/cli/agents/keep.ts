/** What a command takes out of the agents' folder is kept, so that it can be brought back. */
import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { isInside } from '../../agents/text/confined-path.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import type { CommandContext } from '../terminal/command.ts';

const FOLDER = 'removed';

/** Copies the file below `home`. Returns where to, as it can be typed. */
export async function keepCopy(context: CommandContext, home: string, root: string, file: string): Promise<string> {
  const folder = join(home, FOLDER, new Date(context.clock.now()).toISOString().replaceAll(/[:.]/g, '-'));
  const copy = join(folder, basename(file));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(file, copy);
  } catch (error) {
    const fix = 'nothing was changed; check the folder and its permissions';
    throw new TroupeError('io', `A copy of ${file} cannot be kept: ${messageOf(error)}`, { fix, cause: error });
  }
  return typedPath(context, root, copy);
}

/** Short for who is in the project's folder, whole for everybody else. */
export function typedPath({ cwd, terminal }: CommandContext, root: string, path: string): string {
  return terminal.cwd === root && cwd === root && isInside(root, path) ? relative(root, path) : path;
}
