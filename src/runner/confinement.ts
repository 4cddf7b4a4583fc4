/**
 * How a runner is started, and with how little: no environment, no folder of the user's, and Node's permission model, which
 * lets it read the code that it consists of and nothing else: no other file, no writing, no process, no worker, no add-on.
 */
import { createRequire } from 'node:module';
import { dirname, extname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Sources run as they are, and so does what is built from them: the worker is the neighbour with the same ending. */
const worker = fileURLToPath(new URL(`./session-worker${extname(import.meta.url)}`, import.meta.url));
const code = dirname(dirname(worker));

export interface Confined {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function confined(memoryMiB: number, script = worker): Confined {
  return {
    command: process.execPath,
    parameters: [
      '--permission',
      ...readable().map((path) => `--allow-fs-read=${path}`),
      `--max-old-space-size=${memoryMiB}`,
      script,
    ],
    folder: parse(code).root,
    environment: {},
  };
}

/** The package's own code and zod, which describes its messages; and every place where Node looks for zod before it finds it. */
function readable(): readonly string[] {
  const { resolve } = createRequire(import.meta.url);
  const zod = dirname(resolve('zod/package.json'));
  const looked = (resolve.paths('zod') ?? []).map((folder) => join(folder, 'zod'));
  return [...new Set([code, zod, ...looked])];
}
