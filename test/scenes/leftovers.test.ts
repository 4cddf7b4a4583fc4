/** What a run leaves on the screen when a person presses keys, stops it or changes the window meanwhile. */
import { join } from 'node:path';
import { playScenes } from '../support/terminal/scenes.ts';

playScenes(join(import.meta.dirname, 'leftovers'));
