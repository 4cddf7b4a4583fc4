/**
 * How a runner is started, and with how little: no environment, no folder of the user's, and Node's permission model, which
 * lets it read the code that it consists of and nothing else: no other file, no writing, no process, no worker, no add-on.
 */
import { dirname, extname, parse } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Sources run as they are, and so does what is built from them: the worker is the neighbour with the same ending. */
const worker = fileURLToPath(new URL(`../child/loop-worker${extname(import.meta.url)}`, import.meta.url));
/** The folder of the sources, or of what was built from them. */
const codeAround = (script: string): string => dirname(dirname(dirname(script)));

export interface Confined {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function confined(memoryMiB: number, script = worker, code = codeAround(worker)): Confined {
  return {
    command: process.execPath,
    parameters: [
      '--permission',
      // The permission model does not see the files that SQLite opens.
      '--no-experimental-sqlite',
      `--allow-fs-read=${code}`,
      `--max-old-space-size=${memoryMiB}`,
      script,
    ],
    folder: parse(code).root,
    environment: {},
  };
}
