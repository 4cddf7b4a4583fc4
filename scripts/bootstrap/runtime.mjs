/**
 * Which Node a checkout runs on: the one that runs this, when it is new enough, else the platform package under
 * tools/runtime. docs/decisions/0001 says why it lives there.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BootstrapError, runtimeFolder } from './checkout.mjs';

const NODE_WANTED = 24;

/** The path of a Node that can run the sources, or `undefined` when it must be installed first. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NODE_WANTED) return process.execPath;
  return platformNodes().find((path) => existsSync(path));
}

export function requireNode() {
  const node = findNode();
  if (node !== undefined) return node;
  throw new BootstrapError(
    `There is no Node ${NODE_WANTED} package for ${process.platform}-${process.arch}, and this is Node ${process.versions.node}.\n` +
      `Fix: install Node ${NODE_WANTED} or newer yourself and put it first on the PATH.`,
  );
}

function platformNodes() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const program = process.platform === 'win32' ? 'node.exe' : 'node';
  return ['node', 'node-bin'].map((prefix) =>
    join(runtimeFolder, 'node_modules', `${prefix}-${system}-${process.arch}`, 'bin', program),
  );
}
