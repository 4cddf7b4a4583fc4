/** Where things are in a checkout, whatever folder the command was started from. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const runtimeFolder = join(root, 'tools', 'runtime');
/** Servers that only a cluster needs: tests, benchmarks and `troupe cluster up` from a checkout. */
export const clusterFolder = join(root, 'tools', 'cluster');
/** Programs that speak the protocol of coding agents, for tests. */
export const executorsFolder = join(root, 'tools', 'executors');
/** Coding agents that others wrote: large, and only for the tests that let them work. */
export const codingAgentsFolder = join(root, 'tools', 'coding-agents');

/** The console: what its sources are built with. */
export const consoleFolder = join(root, 'console');
/** A browser, for the tests of the console. */
export const browserFolder = join(root, 'tools', 'browser');

/** One line about what is going on, for people. Results are on stdout, so this never is. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** What a person can act on: shown as it is, without a stack. */
export class BootstrapError extends Error {}
