/** The first file that a program loads, so that a Node that is too old says so. `bin/troupe.mjs` does it for the command. */
import { TroupeError } from './errors.ts';

const NODE_MIN = 24;

const { node } = process.versions;
if (Number(node.split('.')[0]) < NODE_MIN)
  throw new TroupeError('node_version', `troupe needs Node ${NODE_MIN} or newer; this is Node ${node}.`, {
    fix: `Install Node ${NODE_MIN}.`,
  });
