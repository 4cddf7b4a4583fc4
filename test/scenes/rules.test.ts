/** Rules as a person sees them. */
import { join } from 'node:path';
import { playScenes } from '../support/terminal/scenes.ts';

playScenes(join(import.meta.dirname, 'rules'));
