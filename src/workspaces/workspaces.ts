/** All of it, with what it needs from the world put in once. */
import { advanceWork } from './advance.ts';
import { captureWork, ignoredAt, unseenChanges } from './capture.ts';
import { takeBackInPlace } from './in-place.ts';
import { layWork } from './lay.ts';
import { mergeWork } from './merge.ts';
import type { WorkspaceOptions } from './options.ts';
import type { Workspaces } from './port.ts';
import { preparePlace } from './prepare.ts';
import { removePlace } from './remove.ts';
import { changesSince, restorePlace } from './travel/kept-files.ts';
import { packRepository, receiveRepository } from './travel/travel.ts';

export function createWorkspaces(options: WorkspaceOptions): Workspaces {
  return {
    prepare: (wanted, signal) => preparePlace(options, wanted, signal),
    capture: (place, domain) => captureWork(options, place, domain),
    unseen: (place, below, seen) => unseenChanges(options, place, below, seen),
    ignored: (place) => ignoredAt(options, place),
    remove: (place, how) => removePlace(options, place, how),
    lay: (place, patch) => layWork(options, place, patch),
    merge: (wanted) => mergeWork(options, wanted),
    advance: (wanted) => advanceWork(options, wanted),
    takeBack: (wanted) => takeBackInPlace(options, wanted),
    changes: (place, known) => changesSince(options, place, known),
    restore: (place, files) => restorePlace(options, place, files),
    pack: (folder) => packRepository(options, folder),
    receive: (packed) => receiveRepository(options, packed),
  };
}
