/** Builds dist from the sources: JavaScript and types, without tests, and the console. Starts from nothing: nothing lingers. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKED_VARIABLE, root, run } from './steps.ts';

rmSync(join(root, 'dist'), { recursive: true, force: true });
const unchecked = process.env[CHECKED_VARIABLE] === undefined ? [] : ['--noCheck'];
const types = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...unchecked];
process.exitCode = run(types) || run(['scripts/build-console.ts']);
