/**
 * Packages of the repository that its own installation links to: `node_modules/one -> ../packages/one`. Programs at a place
 * find what is installed in the folders above it, and with such a link the user's package where the task's own is meant. So the
 * place has links of its own for these. What is installed from elsewhere is still found above, but for what pnpm installs: it
 * links that beside each package out of one store, and its programs are scripts that look beside themselves. So these links
 * and scripts are at the place, too, and lead to the same store.
 */
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { limits } from '../../base/limits.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { zeroSeparated } from '../git.ts';
import type { PrivateGit } from '../private-git.ts';

const INSTALLED = 'node_modules';
const PROGRAMS = '.bin';
/** Where pnpm keeps what is installed, from the top of the repository. */
const STORE = join(INSTALLED, '.pnpm', sep);
/** Folders in it that hold names, not packages. */
const isGroup = (name: string): boolean => name.startsWith('@') || name === PROGRAMS;

/** Gives what somebody should know. */
export async function linkPackages(git: PrivateGit, tree: string, target: string): Promise<readonly string[]> {
  const { top } = git.repository;
  const listed = await git.run(['ls-tree', '-r', '-z', '--name-only', tree]);
  const files = listed.ok ? zeroSeparated(listed.value) : [];
  const packages = files.filter((path) => path === 'package.json' || path.endsWith('/package.json')).map((path) => dirname(path));
  const [from, to] = [await realpath(top), await realpath(target)];
  let links = 0;
  for (const folder of packages) {
    const found = await linksIn(join(from, folder, INSTALLED), from);
    const isStored = found.some(({ leads }) => leads?.startsWith(STORE) === true);
    for (const { name, leads } of found) {
      if (leads === undefined && !isStored) continue;
      links += 1;
      if (links > limits.linkedPackages)
        return [`more than ${limits.linkedPackages} packages are linked (linkedPackages): those that follow are yours`];
      await putInside(to, join(folder, INSTALLED, name), from, leads);
    }
  }
  return [];
}

interface Linked {
  /** As it is called below `node_modules`. */
  readonly name: string;
  /** From the top of the repository; a program that is a file of its own leads nowhere. */
  readonly leads: string | undefined;
}

/** Those that lead to what the repository has itself, or into the store; and programs. All else is installed, and found above. */
async function linksIn(folder: string, top: string, group = ''): Promise<readonly Linked[]> {
  const entries = await readdir(join(folder, group), { withFileTypes: true }).catch(() => []);
  const found: Linked[] = [];
  for (const entry of entries) {
    const name = join(group, entry.name);
    if (group === '' && entry.isDirectory() && isGroup(entry.name)) found.push(...(await linksIn(folder, top, entry.name)));
    if (group === PROGRAMS && entry.isFile()) found.push({ name, leads: undefined });
    if (!entry.isSymbolicLink()) continue;
    const real = await realpath(join(folder, name)).catch(() => undefined);
    if (real?.startsWith(`${top}${sep}`) !== true) continue;
    const leads = relative(top, real);
    if (leads.startsWith(STORE) || !leads.split(sep).includes(INSTALLED)) found.push({ name, leads });
  }
  return found;
}

/**
 * A link of the base may lead elsewhere, and what is not in the base is not linked to; the store is the user's own. What is there
 * already stays.
 */
async function putInside(root: string, path: string, top: string, leads: string | undefined): Promise<void> {
  const link = join(root, path);
  const isStored = leads?.startsWith(STORE) === true;
  const wanted = leads === undefined || isStored ? join(top, leads ?? path) : join(root, leads);
  if (!(await pathExists(wanted))) return;
  try {
    await mkdir(dirname(link), { recursive: true });
    const real = await realpath(dirname(link));
    if (!`${real}${sep}`.startsWith(`${root}${sep}`)) return;
    if (leads === undefined) await copyFile(wanted, link, constants.COPYFILE_EXCL);
    else await symlink(isStored ? wanted : relative(real, wanted), link);
  } catch {
    // A file stands in the way, or another link: that is what the base has.
  }
}
