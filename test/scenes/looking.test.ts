/** Runs that are over, as a person looks at them. */
import { join } from 'node:path';
import { playScenes } from '../support/terminal/scenes.ts';

playScenes(join(import.meta.dirname, 'looking'));
