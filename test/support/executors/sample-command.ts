/** How the sample executor is started. */
import { join } from 'node:path';
import { programOf } from '../programs/programs.ts';

const SOURCE = join(import.meta.dirname, 'sample-agent-main.ts');
const MAIN = await programOf(SOURCE);

export const sampleCommand = (...args: readonly string[]): string[] => [process.execPath, MAIN, ...args];
/** From its source: what was built for the tests may lie where nothing can be shown inside walls. */
export const sampleSource = (...args: readonly string[]): string[] => [process.execPath, SOURCE, ...args];
