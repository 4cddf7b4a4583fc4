/** Builds dist from the sources: JavaScript and types, without tests, and the console. Starts from nothing: nothing lingers. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './steps.ts';

rmSync(join(root, 'dist'), { recursive: true, force: true });
process.exitCode = run(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']) || run(['scripts/build-console.ts']);
