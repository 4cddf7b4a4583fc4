/**
 * Packages of the repository that its own installation links to: `node_modules/one -> ../packages/one`. Programs at a place
 * find what is installed in the folders above it, and with such a link the user's package where the task's own is meant. So the
 * place has links of its own for these, and for nothing else: what is installed from elsewhere is still found above.
 */
import { mkdir, readdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { limits } from '../../base/limits.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { zeroSeparated } from '../git.ts';
import type { PrivateGit } from '../private-git.ts';

const INSTALLED = 'node_modules';
/** Folders in it that hold names, not packages. */
const isGroup = (name: string): boolean => name.startsWith('@') || name === '.bin';

/** Gives what somebody should know. */
export async function linkPackages(git: PrivateGit, tree: string, target: string): Promise<readonly string[]> {
  const { top } = git.repository;
  const listed = await git.run(['ls-tree', '-r', '-z', '--name-only', tree]);
  const files = listed.ok ? zeroSeparated(listed.value) : [];
  const packages = files.filter((path) => path === 'package.json' || path.endsWith('/package.json')).map((path) => dirname(path));
  const [from, to] = [await realpath(top), await realpath(target)];
  let links = 0;
  for (const folder of packages) {
    for (const { name, leads } of await linksIn(join(from, folder, INSTALLED), from)) {
      links += 1;
      if (links > limits.linkedPackages)
        return [`more than ${limits.linkedPackages} packages are linked (linkedPackages): those that follow are yours`];
      await linkInside(to, join(folder, INSTALLED, name), leads);
    }
  }
  return [];
}

interface Linked {
  /** As it is called below `node_modules`. */
  readonly name: string;
  /** From the top of the repository. */
  readonly leads: string;
}

/** Those that lead to what the repository has itself. What is kept in another folder of packages is installed. */
async function linksIn(folder: string, top: string, group = ''): Promise<readonly Linked[]> {
  const entries = await readdir(join(folder, group), { withFileTypes: true }).catch(() => []);
  const found: Linked[] = [];
  for (const entry of entries) {
    const name = join(group, entry.name);
    if (group === '' && entry.isDirectory() && isGroup(entry.name)) found.push(...(await linksIn(folder, top, entry.name)));
    if (!entry.isSymbolicLink()) continue;
    const real = await realpath(join(folder, name)).catch(() => undefined);
    if (real?.startsWith(`${top}${sep}`) !== true) continue;
    const leads = relative(top, real);
    if (!leads.split(sep).includes(INSTALLED)) found.push({ name, leads });
  }
  return found;
}

/** A link of the base may lead elsewhere, and what is not in the base is not linked to. What is there already stays. */
async function linkInside(root: string, path: string, leads: string): Promise<void> {
  const [link, wanted] = [join(root, path), join(root, leads)];
  if (!(await pathExists(wanted))) return;
  try {
    await mkdir(dirname(link), { recursive: true });
    const real = await realpath(dirname(link));
    if (`${real}${sep}`.startsWith(`${root}${sep}`)) await symlink(relative(real, wanted), link);
  } catch {
    // A file stands in the way, or another link: that is what the base has.
  }
}
