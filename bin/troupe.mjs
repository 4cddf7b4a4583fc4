#!/usr/bin/env node
/**
 * The installed command. Old syntax on purpose: a Node that is too old must be able to read this and say so.
 * A checkout runs its sources, the published package its build (Node does not strip types inside node_modules).
 */
import { existsSync } from 'node:fs';

const NODE_MIN = 24;
const source = new URL('../src/cli/main.ts', import.meta.url);
const build = new URL('../dist/cli/main.js', import.meta.url);

if (Number(process.versions.node.split('.')[0]) < NODE_MIN) {
  process.stderr.write(
    `troupe needs Node ${NODE_MIN} or newer; this is Node ${process.versions.node}.\n` +
      `Fix: install Node ${NODE_MIN}, or use ./troupe in a checkout, which brings its own.\n`,
  );
  process.exitCode = 2;
} else {
  void import((existsSync(source) ? source : build).href);
}
