/**
 * Installs what is missing, once, also when several first uses happen at the same time. Quiet when there is nothing to do.
 *
 * What is installed is known from `node_modules/.package-lock.json`, which npm writes last: a half-finished install has none.
 */
import { readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  browserFolder,
  clusterFolder,
  codingAgentsFolder,
  consoleFolder,
  executorsFolder,
  root,
  runtimeFolder,
  say,
} from './checkout.mjs';
import { withFolderLock } from './folder-lock.mjs';
import { npmInstall } from './npm.mjs';
import { findNode, requireNode } from './runtime.mjs';

/** Returns the path of the Node to use, with everything in place. */
export async function ensureInstalled(wanted = {}) {
  const isComplete = EXTRAS.every(({ name, folder }) => wanted[name] !== true || isInstalled(folder));
  if (hasNode() && isInstalled(root) && isComplete) return requireNode();
  return withFolderLock(join(root, '.install-lock'), () => installMissing(wanted));
}

/** What only some tasks need. */
const EXTRAS = [
  { name: 'console', folder: consoleFolder, what: 'what the console is built with' },
  { name: 'cluster', folder: clusterFolder, what: 'the servers of a cluster' },
  { name: 'executors', folder: executorsFolder, what: 'programs that tests talk with' },
  { name: 'browser', folder: browserFolder, what: 'a browser that tests look at the console with' },
  { name: 'codingAgents', folder: codingAgentsFolder, what: 'coding agents that tests let work, which takes a while' },
];

async function installMissing(wanted) {
  if (!hasNode()) {
    say('troupe: installing Node 24 for this checkout (once) …');
    await npmInstall(process.execPath, runtimeFolder);
  }
  const node = requireNode();
  if (!isInstalled(root)) {
    say('troupe: installing dependencies …');
    await npmInstall(node, root);
  }
  for (const { name, folder, what } of EXTRAS) {
    if (wanted[name] !== true || isInstalled(folder)) continue;
    say(`troupe: installing ${what} (once) …`);
    await npmInstall(node, folder);
  }
  return node;
}

/** Our own Node counts only in the version that its lockfile names. */
function hasNode() {
  const node = findNode();
  return node === process.execPath || (node !== undefined && isInstalled(runtimeFolder));
}

function isInstalled(folder) {
  const wanted = join(folder, 'package-lock.json');
  const present = join(folder, 'node_modules', '.package-lock.json');
  const presentAt = modifiedAt(present);
  if (presentAt === undefined) return false;
  if (presentAt > modifiedAt(wanted)) return true;
  if (!holdsTheSame(wanted, present)) return false;
  // Only the times differ, as after a fresh checkout of the lockfile: the next look takes the short way again.
  const now = new Date();
  utimesSync(present, now, now);
  return true;
}

function modifiedAt(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Every package that must be there is there in the version the lockfile names, and nothing is there in another one. */
function holdsTheSame(wantedPath, presentPath) {
  const wanted = packagesOf(wantedPath);
  const present = packagesOf(presentPath);
  const names = new Set([...Object.keys(wanted), ...Object.keys(present)]);
  names.delete('');
  for (const name of names) {
    if (wanted[name] === undefined) return false;
    if (present[name] === undefined && wanted[name].optional !== true && wanted[name].devOptional !== true) return false;
    if (present[name] !== undefined && present[name].integrity !== wanted[name].integrity) return false;
  }
  return true;
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages || {};
  } catch {
    return {};
  }
}
