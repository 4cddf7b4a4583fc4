/** A conversation as a person sees it. */
import { join } from 'node:path';
import { playScenes } from '../support/terminal/scenes.ts';

playScenes(join(import.meta.dirname, 'chat'));
